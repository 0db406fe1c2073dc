# SPDX-License-Identifier: GPL-3.0-or-later

# Compile options that every target of Kerf shares.
function(kerf_target_defaults target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                           -Wno-sign-conversion -Wnon-virtual-dtor)
  if(KERF_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(KERF_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-omit-frame-pointer
                                             -fno-sanitize-recover=undefined)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# A Qt Test program: kerf_add_test(NAME tst_x SOURCES tst_x.cpp LIBRARIES kerf_core)
function(kerf_add_test)
  cmake_parse_arguments(TEST "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${TEST_NAME} ${TEST_SOURCES})
  set_target_properties(${TEST_NAME} PROPERTIES AUTOMOC ON)
  kerf_target_defaults(${TEST_NAME})
  target_link_libraries(${TEST_NAME} PRIVATE ${TEST_LIBRARIES} kerf_test_support Qt6::Test)
  add_test(NAME ${TEST_NAME} COMMAND ${TEST_NAME})
  set_tests_properties(${TEST_NAME} PROPERTIES ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8"
                                               TIMEOUT 600)
endfunction()
