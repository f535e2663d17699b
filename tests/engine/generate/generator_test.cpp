/// The Generator on the real emulator: what it writes computes what the function does, and what
/// does not is seen.
#include "engine/generate/generator.h"
#include "engine/generate/host_function_reference.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/generate/loops.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <random>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;
using ::testing::HasSubstr;

std::string report(const Verdict& verdict) {
    std::string text = verdict.summary;
    for (const Check& check : verdict.checks)
        text += "\n  " + std::string(check.passed ? "passed " : "FAILED ") + check.name + ": " +
                check.detail;
    return text;
}

/// A reference whose kernel is spoilt on the way.
class SpoiltReference : public Reference {
public:
    SpoiltReference(const Reference& reference, std::string from, std::string to)
        : reference_(reference), from_(std::move(from)), to_(std::move(to)) {}
    [[nodiscard]] std::string name() const override { return reference_.name(); }
    [[nodiscard]] std::expected<KernelDraft, skills::Refusal> draft() const override {
        auto draft = reference_.draft();
        if (draft)
            for (DraftCheck& check : draft->checks)
                spoil(check.candidateText);
        return draft;
    }

private:
    /// Everywhere: what is launched may hold the kernel's text once more.
    void spoil(std::string& text) const {
        EXPECT_TRUE(text.contains(from_)) << from_;
        for (auto at = text.find(from_); at != std::string::npos;
             at = text.find(from_, at + to_.size()))
            text.replace(at, from_.size(), to_);
    }

    const Reference& reference_;
    std::string from_;
    std::string to_;
};

class GeneratorTest : public kernelskill::testing::EmulatorFixture {
protected:
    Result<GeneratedKernel> generate(const std::string& text, const std::string& from = "",
                                     const std::string& to = "") const {
        const ProgramSource source = program(text);
        const Reviewer reviewer(executor_.get(), bench_.toolchain);
        const Generator generator(reviewer, bench_.toolchain);
        if (source.model->loopFunctions.empty())
            return std::unexpected(Error{ErrorKind::InvalidInput, "no loops", "", ""});
        const HostFunctionReference reference(*source.model, source.model->loopFunctions.front());
        const SpoiltReference spoilt(reference, from, to);
        const Reference& chosen = from.empty() ? static_cast<const Reference&>(reference) : spoilt;
        return generator.generate(source, chosen, {}, {}, {.measure = false, .seed = testSeed()});
    }

    void expectRight(const std::string& text) const {
        const auto generated = generate(text);
        ASSERT_TRUE(generated) << generated.error().describe() << "\n" << text;
        EXPECT_EQ(generated->verdict.status, VerdictStatus::Unmeasured)
            << report(generated->verdict) << "\n"
            << generated->diff;
        const auto matches =
            std::ranges::count_if(generated->verdict.checks, [](const Check& check) {
                return check.name.contains("matches '");
            });
        EXPECT_GE(matches, 3) << report(generated->verdict);
        EXPECT_TRUE(std::ranges::any_of(generated->verdict.checks, [](const Check& check) {
            return check.name.contains("control") && check.passed;
        })) << report(generated->verdict);
    }

    /// Whether a kernel is offered, which then has to be right; else it has to be said why not.
    bool isOfferedRight(const std::string& text) const {
        const auto generated = generate(text);
        if (!generated) {
            EXPECT_EQ(generated.error().kind, ErrorKind::Unsupported)
                << generated.error().describe();
            return false;
        }
        EXPECT_EQ(generated->verdict.status, VerdictStatus::Unmeasured)
            << report(generated->verdict) << "\n"
            << text << generated->diff;
        return true;
    }
};

const std::string saxpy = "void saxpy(int n, float a, const float* x, float* y) {\n"
                          "    for (int i = 0; i < n; i++)\n"
                          "        y[i] = a * x[i] + y[i];\n}\n";

TEST_F(GeneratorTest, WritesAKernelThatComputesWhatTheFunctionDoes) {
    const auto generated = generate(saxpy);
    ASSERT_TRUE(generated) << generated.error().describe();
    EXPECT_EQ(generated->verdict.status, VerdictStatus::Unmeasured) << report(generated->verdict);
    EXPECT_EQ(generated->kernel, "saxpy_kernel");
    EXPECT_THAT(generated->verdict.summary,
                HasSubstr("Computes what 'saxpy' does on 3 fresh inputs of 2 sizes"));
    EXPECT_THAT(generated->why, HasSubstr("x, y do not overlap"));
    EXPECT_THAT(generated->diff, HasSubstr("+__global__ void saxpy_kernel("));
    EXPECT_THAT(generated->diff, ::testing::Not(HasSubstr("kernelskill: launch")));
    EXPECT_FALSE(generated->verdict.speedup);
}

TEST_F(GeneratorTest, EveryExampleIsRight) {
    expectRight(sourceFile("examples/host/stencil.cu"));
    expectRight(sourceFile("examples/host/matmul.cu"));
    expectRight(sourceFile("examples/host/row_softmax.cu"));
    expectRight(sourceFile("examples/host/triangular.cu"));
    expectRight(sourceFile("examples/host/standardize.cu"));
}

TEST_F(GeneratorTest, AWrongKernelIsIncorrect) {
    const auto generated = generate(saxpy, "saxpy_kernel<<<grid", "saxpy_kernel<<<grid");
    ASSERT_TRUE(generated);
    const auto wrong = generate(saxpy, "if (i >= n)", "if (i >= n - 1)");
    ASSERT_TRUE(wrong) << wrong.error().describe();
    EXPECT_EQ(wrong->verdict.status, VerdictStatus::Incorrect) << report(wrong->verdict);
    EXPECT_FALSE(wrong->acceptable());
}

TEST_F(GeneratorTest, OneElementTooFarIsRejected) {
    const auto wrong = generate(saxpy, "if (i >= n)", "if (i > n)");
    ASSERT_TRUE(wrong) << wrong.error().describe();
    EXPECT_FALSE(wrong->acceptable()) << report(wrong->verdict);
}

TEST_F(GeneratorTest, WhatDoesNotCompileIsInvalid) {
    const auto wrong = generate(saxpy, "cudaMalloc(&d_x", "cudaMalloc(&d_z");
    ASSERT_TRUE(wrong) << wrong.error().describe();
    EXPECT_EQ(wrong->verdict.status, VerdictStatus::Invalid) << report(wrong->verdict);
}

TEST_F(GeneratorTest, ARefusalIsUnsupportedWithItsReason) {
    const auto refused =
        generate("void scan(int n, float* y) {\n"
                 "    for (int i = 1; i < n; i++)\n        y[i] += y[i - 1];\n}\n");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(refused.error().describe(), HasSubstr("'y[i - 1]' on line 3"));
}

TEST_F(GeneratorTest, StepsAndCountingDownAreRight) {
    expectRight("void pairs(int n, const float* x, float* y) {\n"
                "    for (int i = 0; i < n - 1; i += 2) {\n"
                "        y[i] = x[i + 1];\n        y[i + 1] = x[i];\n    }\n}\n");
    expectRight("void thirds(int n, const int* x, int* y) {\n"
                "    for (int i = n; i > 0; i -= 3)\n        y[i] = x[i] + 1;\n}\n");
    expectRight("void mirror(unsigned n, const double* x, double* y) {\n"
                "    for (unsigned i = n; i != 0; i--)\n        y[n - i] = x[i - 1];\n}\n");
}

const std::string energy = "double energy(int n, const double* x) {\n"
                           "    double sum = 0;\n"
                           "    for (int i = 0; i < n; i++)\n        sum += x[i] * x[i];\n"
                           "    return sum;\n}\n";

TEST_F(GeneratorTest, ASumIsReassociatedAndComparedAsSuch) {
    const auto generated = generate(energy);
    ASSERT_TRUE(generated) << generated.error().describe();
    EXPECT_EQ(generated->verdict.status, VerdictStatus::Unmeasured) << report(generated->verdict);
    EXPECT_EQ(generated->numerics, skills::Numerics::Reassociates);
    EXPECT_THAT(generated->verdict.summary, HasSubstr("sums are reassociated"));
    EXPECT_THAT(generated->why, HasSubstr("meet in sum alone, reassociated"));
    const auto counted = generate("int count(int n, const int* x) {\n    int c = 3;\n"
                                  "    for (int i = 0; i < n; i++)\n        if (x[i] > 0)\n"
                                  "            ++c;\n    return c;\n}\n");
    ASSERT_TRUE(counted) << counted.error().describe();
    EXPECT_EQ(counted->verdict.status, VerdictStatus::Unmeasured) << report(counted->verdict);
    EXPECT_EQ(counted->numerics, skills::Numerics::Exact) << "integers come to the same";
}

TEST_F(GeneratorTest, AWrongReductionIsNoticed) {
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"wide_i < n;", "wide_i < n - 1;"},
             {"wide_i += stride", "wide_i += 2 * stride"},
             {"part < blocks", "part + 1 < blocks"},
             {"        warps[threadIdx.x / 32] = value;\n    __syncthreads();",
              "        warps[threadIdx.x / 32] = value;"}}) {
        const auto wrong = generate(energy, from, to);
        ASSERT_TRUE(wrong) << wrong.error().describe();
        EXPECT_EQ(wrong->verdict.status, VerdictStatus::Incorrect) << from << "\n"
                                                                   << report(wrong->verdict);
    }
}

TEST_F(GeneratorTest, TheFirstWrongOfSeveralKernelsIsNamed) {
    const auto wrong = generate("void f(int n, float* y) {\n"
                                "    for (int i = 0; i < n; i++)\n        y[i] += 1;\n"
                                "    for (int i = 0; i < n; i++)\n        y[i] *= 2;\n}\n",
                                "return;\n    y[i] *= 2", "return;\n    y[i] *= 3");
    ASSERT_TRUE(wrong) << wrong.error().describe();
    EXPECT_EQ(wrong->verdict.status, VerdictStatus::Incorrect);
    EXPECT_THAT(wrong->verdict.summary, HasSubstr("(the loops of line 4)"));
    EXPECT_THAT(wrong->verdict.checks.front().name, HasSubstr("line 2: "));
}

/// A reference that is compared at another size than it asks for.
class ResizedReference : public Reference {
public:
    ResizedReference(const Reference& reference, std::string size)
        : reference_(reference), size_(std::move(size)) {}
    [[nodiscard]] std::string name() const override { return reference_.name(); }
    [[nodiscard]] std::expected<KernelDraft, skills::Refusal> draft() const override {
        auto draft = reference_.draft();
        if (draft)
            for (DraftCheck& check : draft->checks)
                for (std::string* text : {&check.referenceText, &check.candidateText}) {
                    const std::size_t at = text->rfind("(n=") + 3;
                    text->replace(at, text->find(',', at) - at, size_);
                }
        return draft;
    }

private:
    const Reference& reference_;
    std::string size_;
};

TEST_F(GeneratorTest, ReductionsAreRightAtTheEdgesOfWarpsAndBlocks) {
    const ProgramSource source = program(energy);
    const Reviewer reviewer(executor_.get(), bench_.toolchain);
    const Generator generator(reviewer, bench_.toolchain);
    const HostFunctionReference reference(*source.model, source.model->loopFunctions.front());
    for (const char* size : {"1", "769"}) {
        const ResizedReference resized(reference, size);
        const auto generated =
            generator.generate(source, resized, {}, {}, {.measure = false, .seed = testSeed()});
        ASSERT_TRUE(generated) << generated.error().describe();
        EXPECT_EQ(generated->verdict.status, VerdictStatus::Unmeasured)
            << size << "\n"
            << report(generated->verdict);
        EXPECT_THAT(report(generated->verdict), HasSubstr(std::string("n=") + size));
    }
}

/// Random folds: each that is offered is right.
TEST_F(GeneratorTest, FoldsAreRight) {
    std::mt19937 random(5);
    const auto pick = [&](const std::vector<std::string>& choices) {
        return choices[random() % choices.size()];
    };
    int offered = 0;
    for (int round = 0; round < 40 && offered < 4; ++round) {
        const bool isFloating = random() % 2 == 0;
        const std::string type = isFloating ? pick({"float", "double"})
                                            : pick({"int", "unsigned", "long long", "size_t"});
        const std::string fold =
            isFloating
                ? pick({"s += x[{0}];", "s -= x[{0}] * x[{0}];", "s = s > x[{0}] ? s : x[{0}];",
                        "if (x[{0}] < s) s = x[{0}];", "if (x[{0}] > 0) s += x[{0}];"})
                : pick({"s += x[{0}];", "s ^= x[{0}];", "if (x[{0}] > s) s = x[{0}];",
                        "if (x[{0}] % 2 == 0) continue; s++;"});
        const std::string loop =
            pick({"for (int i = 0; i < n; i++) {", "for (int i = n - 1; i >= 0; i--) {",
                  "for (long i = 1; i <= n; i += 3) {", "for (int i = n; i > 0; i -= 2) {",
                  "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"});
        const std::string index = loop.contains("int j") ? "i * m + j" : "i";
        const std::string text = fmt::format(
            "{0} f(int n, int m, const {0}* x) {{\n    {0} s = {1};\n    {2}\n        {3}\n    "
            "}}\n    return s;\n}}\n",
            type, pick({"0", "1", "x[0]"}), loop, fmt::format(fmt::runtime(fold), index));
        offered += isOfferedRight(text) ? 1 : 0;
    }
    EXPECT_EQ(offered, 4);
}

/// Random nests of a small grammar: each that is offered is right.
TEST_F(GeneratorTest, WhatIsOfferedIsRight) {
    std::mt19937 random(11);
    const auto pick = [&](const std::vector<std::string>& choices) {
        return choices[random() % choices.size()];
    };
    int offered = 0;
    for (int round = 0; round < 40 && offered < 5; ++round) {
        const std::string type = pick({"float", "double", "int"});
        const std::string text = fmt::format(
            "void f({0} n, {0} m, const {1}* __restrict__ x, {1}* __restrict__ y) {{\n"
            "    for ({0} i = {2}; i < n; i {10})\n"
            "        for ({0} j = {3}; j {4}; j++) {{\n"
            "            {1} t = {5};\n"
            "            for ({0} l = 0; l < {6}; l++)\n"
            "                t += x[{7}];\n"
            "            y[{8}] {9} t;\n"
            "        }}\n}}\n",
            pick({"int", "long long", "unsigned"}), type, pick({"0", "1"}), pick({"0", "1", "i"}),
            pick({"< m", "<= m", "< i + 1"}), pick({"0", "1"}), pick({"3", "m"}),
            pick({"i + l", "l * m + j", "i * m + j + l"}),
            pick({"i * m + j", "i * (m + 1) + j", "j * n + i", "(n - 1 - i) * (m + n) + j"}),
            pick({"=", "+="}), pick({"+= 1", "+= 2", "+= 3"}));
        offered += isOfferedRight(text) ? 1 : 0;
    }
    EXPECT_EQ(offered, 5);
}

} // namespace
} // namespace kernelskill::engine
