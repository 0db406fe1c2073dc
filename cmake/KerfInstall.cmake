# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts where.

if(TARGET kerf)
  install(TARGETS kerf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES resources/kerf.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES resources/kerf-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
          RENAME kerf.xml)
  install(FILES resources/kerf.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES resources/icons/kerf.svg
          DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()
if(TARGET kerf-record)
  install(TARGETS kerf-record RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS kerf-inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kerf)
endif()
install(DIRECTORY resources/sample resources/hardware DESTINATION ${CMAKE_INSTALL_DATADIR}/kerf)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
