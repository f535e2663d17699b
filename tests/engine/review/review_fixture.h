/// Reviews an edit of the first kernel of a text.
#pragma once

#include "engine/review/reviewer.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::testing {

class ReviewFixture : public EmulatorFixture {
protected:
    /// The verdict on `text` with the first `from` replaced by `to`.
    [[nodiscard]] engine::Verdict review(const std::string& text, std::string_view from,
                                         std::string_view to, const skills::Accuracy& accuracy = {},
                                         bool isSumOfReviewed = false) const {
        const engine::ProgramSource source = program(text);
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        const auto begin = static_cast<std::uint32_t>(at);
        const analysis::Span span{begin, begin + static_cast<std::uint32_t>(from.size())};
        auto verdict = engine::Reviewer(executor_.get(), bench_.toolchain)
                           .review({source, source.model->kernels.at(0)},
                                   {{source.file, {{span, std::string(to)}}}}, accuracy, {}, {},
                                   {.isSumOfReviewed = isSumOfReviewed, .seed = testSeed()});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? std::move(*verdict) : engine::Verdict{};
    }

    /// The summary and each check, a line each.
    static std::string report(const engine::Verdict& verdict) {
        std::string text = verdict.summary;
        for (const engine::Check& check : verdict.checks)
            text += "\n  " + std::string(check.passed ? "passed " : "FAILED ") + check.name + ": " +
                    check.detail;
        return text;
    }
    static bool isAccepted(const engine::Verdict& verdict) {
        return verdict.status == engine::VerdictStatus::Unmeasured;
    }
};

} // namespace kernelskill::testing
