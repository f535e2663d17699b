/// Texts of host functions for the tests of the generator.
#pragma once

#include "engine/generate/parallel_function.h"
#include "tests/engine/breakage.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kernelskill::testing {

/// A file whose first host function with loops is looked at.
class LoopFile {
public:
    explicit LoopFile(const std::string& text)
        : file_(std::make_unique<analysis::FileModel>(RepairBench().parsed(text))) {
        EXPECT_FALSE(file_->loopFunctions.empty()) << text;
    }

    [[nodiscard]] const analysis::FileModel& file() const { return *file_; }
    [[nodiscard]] const analysis::KernelModel& function() const {
        return file_->loopFunctions.at(0);
    }

private:
    std::unique_ptr<analysis::FileModel> file_;
};

} // namespace kernelskill::testing
