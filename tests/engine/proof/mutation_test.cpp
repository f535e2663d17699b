/// No kernel that does something else is proved to do the same: kernels are changed token by token,
/// and each change that the prover takes for none must be listed here with its reason.
#include "tests/engine/proof/mutants.h"
#include "tests/engine/proof/proof_subject.h"
#include "tests/samples.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {
namespace {

/// A change that does nothing, and why.
struct Equivalent {
    std::string_view kernel;
    std::string_view line; ///< A part of the changed line.
    std::string_view reason;
};

const std::vector<Equivalent>& equivalents() {
    static const std::vector<Equivalent> list{
        {"compactPositive", "lane = threadIdx.x % 32", "a lane fits every integer"},
        {"transposeBits", "lane = threadIdx.x & 31", "a lane fits every integer"},
        {"transposeBits", "b = 0; b < 32; ++b", "32 rounds fit every integer"},
        {"vec_scale_strided", "unsigned unsigned", "says the same twice"},
        {"prefix_small", "i;", "threadIdx.x is at most 1023"},
        {"prefix_small", "offset;", "takes the powers of two up to 256"},
        {"prefix_small", "__shared__", "an array with more room"},
        {"depthwise3x3", "short d", "three rounds fit every integer"},
        {"grayScott", "__shared__", "an array with more room"},
        {"grayScott", "short r", "places in a tile of 18 fit every integer"},
        {"grayScott", "short c", "places in a tile of 18 fit every integer"},
        {"grayScott", "unsigned r", "at least 1, also before it is lowered by 1"},
        {"digitCounts", "__shared__", "an array with more room"},
        {"rankSort", "unsigned rank", "counts up from 0"},
        {"rankSort", "unsigned j = 0; j < n", "the guard shows that n is positive"},
        {"blockSum", "__shared__", "an array with more room"},
        {"transpose", "__shared__", "an array with more room"},
    };
    return list;
}

class Mutations : public ::testing::TestWithParam<std::string> {};

/// All mutants take a quarter of an hour.
constexpr std::size_t mutantsApart = 24;

TEST_P(Mutations, AreNotProved) {
    const std::string text = skills::readSource(GetParam());
    EditedProgram program(text);
    const ProgramSource& before = program.original();
    ASSERT_FALSE(hasErrors(before));
    int tried = 0;
    std::size_t made = 0;
    for (const analysis::KernelModel& kernel : before.model->kernels) {
        for (const Mutant& mutant : mutantsOf(text, kernel.bodySpan)) {
            if (made++ % casesApart(mutantsApart) != 0)
                continue;
            const std::string changed = mutated(text, mutant);
            const ProgramSource after = program.with(changed);
            if (hasErrors(after))
                continue;
            ++tried;
            const Proof proof = proofOf(before, after, kernel.qualifiedName);
            if (!proof)
                continue;
            const std::string line = lineOf(changed, mutant);
            const bool isListed =
                std::ranges::any_of(equivalents(), [&](const Equivalent& equivalent) {
                    return !equivalent.reason.empty() && kernel.name == equivalent.kernel &&
                           line.contains(equivalent.line);
                });
            EXPECT_TRUE(isListed) << kernel.name << ": " << line << "\n" << proof->sentence();
        }
    }
    std::cout << GetParam() << ": " << tried << " mutants\n";
    EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Mutations,
    ::testing::Values("tests/precision/bit_work.cu", "tests/precision/losses.cu",
                      "tests/precision/plain_c.cu", "tests/precision/dense_algebra.cu",
                      "tests/precision/control_flow.cu", "tests/precision/feature_maps.cu",
                      "tests/precision/field_solvers.cu", "tests/precision/weight_updates.cu",
                      "tests/precision/ordering.cu", "examples/reduce.cu", "examples/transpose.cu",
                      "examples/saxpy.cu"),
    [](const auto& info) {
        std::string name = info.param.substr(info.param.rfind('/') + 1);
        return name.substr(0, name.find('.'));
    });

} // namespace
} // namespace kernelskill::engine
