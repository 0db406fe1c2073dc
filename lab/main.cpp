// SPDX-License-Identifier: GPL-3.0-or-later
// kerf-lab: measures on a GPU what Kerf's predictions are made of.
#include "lab/calibrate/calibrate.h"
#include "lab/common/arguments.h"
#include "lab/common/lab_error.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace {

using namespace kerf::lab;

std::string readText(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (!stream) {
        throw LabError("kerf-lab: cannot read " + path);
    }
    return text;
}

/// To a temporary beside it, then renamed: a crash leaves the old file or the new one.
void writeText(const std::string& path, const std::string& text) {
    const std::string temporary = path + ".part";
    std::ofstream stream(temporary, std::ios::binary);
    stream << text;
    stream.close();
    std::error_code error;
    if (stream) {
        std::filesystem::rename(temporary, path, error);
    }
    if (!stream || error) {
        throw LabError("kerf-lab: cannot write " + path + ". Check the folder and the disk.");
    }
}

void runCalibrate(const Arguments& arguments) {
    const std::string base = arguments.base.empty() ? std::string() : readText(arguments.base);
    const Calibration found = calibrate(arguments.device, arguments.quick);
    for (const Figure& figure : found.figures) {
        std::printf("%-34s %10.3f ± %-8.3f %s\n", figure.name.c_str(), figure.value.median,
                    figure.value.spread, figure.unit.c_str());
    }
    writeText(arguments.output, hardwareJson(found, base));
}

} // namespace

int main(int argc, char** argv) {
    const ParsedArguments parsed = parseArguments(argc, argv);
    if (!parsed.run) {
        (parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.text;
        return parsed.exit_code;
    }
    try {
        runCalibrate(parsed.arguments);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
