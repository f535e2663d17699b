/// Tests that have a file for their parameter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace kernelskill::testing {

/// "corpus_saxpy" for tests/corpus/saxpy.cu.
inline std::string fileTestName(const ::testing::TestParamInfo<std::filesystem::path>& info) {
    std::string name = info.param.parent_path().stem().string() + "_" + info.param.stem().string();
    std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

/// The .cu files in `folders` below `root`, in alphabetical order.
inline std::vector<std::filesystem::path> cudaFiles(const std::filesystem::path& root,
                                                    std::initializer_list<const char*> folders) {
    std::vector<std::filesystem::path> files;
    for (const char* folder : folders)
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
            if (entry.path().extension() == ".cu")
                files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

} // namespace kernelskill::testing
