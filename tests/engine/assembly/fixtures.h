/// The compilers' output that is kept in fixtures/, whose README says how each was made.
#pragma once

#include "engine/assembly/listing.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kernelskill::engine {

inline constexpr const char* inlinedKernel = "_Z1kPfPKfPK6__halfi";

inline std::filesystem::path fixturePath(const std::string& name) {
    return std::filesystem::path(paths::sourceFolder) / "tests/engine/assembly/fixtures" / name;
}

inline std::string fixture(const std::string& name) {
    std::ifstream stream(fixturePath(name), std::ios::binary);
    EXPECT_TRUE(stream) << name;
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// "inlined.cu:7 < inlined.cu:14": each place by file name and line from 1 on, innermost first.
inline std::string placesOf(const Listing& listing, const AssemblyInstruction& instruction) {
    std::string text;
    for (const auto& place : instruction.places) {
        const auto name = std::filesystem::path(listing.files.at(place.file)).filename().string();
        text += (text.empty() ? "" : " < ") + name + ":" + std::to_string(place.line + 1);
    }
    return text;
}

/// The only instruction whose text begins so.
inline const AssemblyInstruction& instructionOf(const Listing& listing, const std::string& begin) {
    static const AssemblyInstruction none;
    const AssemblyInstruction* found = nullptr;
    for (const auto& instruction : listing.instructions) {
        if (!instruction.text.starts_with(begin))
            continue;
        EXPECT_EQ(found, nullptr) << "several begin with " << begin;
        found = &instruction;
    }
    EXPECT_NE(found, nullptr) << begin;
    return found == nullptr ? none : *found;
}

} // namespace kernelskill::engine
