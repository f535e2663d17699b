/// No kernel that does something else is proved to do the same: kernels are changed token by token,
/// and each change that the prover takes for none must be listed here with its reason.
#include "analysis/syntax/lexer.h"
#include "tests/engine/proof/proof_subject.h"
#include "tests/samples.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Span;
using analysis::Token;
using analysis::TokenKind;

struct Mutant {
    Span span;
    std::string text;
};

/// Other tokens for one token.
const std::map<std::string_view, std::vector<std::string_view>>& replacements() {
    static const std::map<std::string_view, std::vector<std::string_view>> table{
        {"<", {"<=", ">"}},
        {"<=", {"<"}},
        {">", {">=", "<"}},
        {">=", {">"}},
        {"==", {"!="}},
        {"!=", {"=="}},
        {"+", {"-", "*"}},
        {"-", {"+"}},
        {"*", {"+"}},
        {"/", {"*"}},
        {"%", {"/"}},
        {"+=", {"-=", "="}},
        {"-=", {"+="}},
        {"*=", {"+="}},
        {"++", {"--"}},
        {"--", {"++"}},
        {"&&", {"||"}},
        {"||", {"&&"}},
        {"&", {"|"}},
        {"|", {"&"}},
        {"^", {"&"}},
        {"<<", {">>"}},
        {"int", {"short", "unsigned", "float"}},
        {"unsigned", {"unsigned char"}},
        {"float", {"double", "int"}},
        {"double", {"float"}},
        {"blockIdx", {"threadIdx"}},
        {"threadIdx", {"blockIdx"}},
        {"blockDim", {"gridDim"}},
        {"x", {"y"}},
        {"y", {"x"}},
        {"atomicAdd", {"atomicSub", "atomicMax"}},
        {"fmaxf", {"fminf"}},
        {"expf", {"logf"}},
        {"return", {";"}},
        {"break", {"continue"}},
        {"__syncthreads", {"__syncwarp", "__threadfence_block"}},
        {"__shfl_xor_sync", {"__shfl_down_sync"}},
    };
    return table;
}

std::vector<Mutant> mutantsOf(const std::string& text, Span body) {
    std::vector<Mutant> mutants;
    const std::vector<Token> tokens = analysis::lex(text, body);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        if (const auto known = replacements().find(token.text); known != replacements().end())
            for (const std::string_view other : known->second)
                mutants.push_back({token.span, std::string(other)});
        if (token.kind == TokenKind::Number)
            mutants.push_back({token.span, "(" + std::string(token.text) + " + 1)"});
        const bool opensCondition =
            token.is("(") && i > 0 && (tokens[i - 1].is("if") || tokens[i - 1].is("while"));
        if (opensCondition) {
            const std::size_t close = analysis::matchingBracket(tokens, i);
            if (close < tokens.size()) {
                const Span inside{token.span.end, tokens[close].span.begin};
                mutants.push_back({inside, "true"});
                mutants.push_back({inside, "!(" + text.substr(inside.begin, inside.size()) + ")"});
            }
        }
        if (token.is("["))
            mutants.push_back({{token.span.end, token.span.end}, "1 + "});
        // A statement that is left out.
        const bool begins =
            i > 0 && (tokens[i - 1].is(";") || tokens[i - 1].is("{") || tokens[i - 1].is("}"));
        if (begins && token.isIdentifier() && i + 1 < tokens.size() &&
            (tokens[i + 1].is("[") || tokens[i + 1].is("(") || tokens[i + 1].is("=") ||
             tokens[i + 1].is("+=")) &&
            !token.is("if") && !token.is("for") && !token.is("while")) {
            std::size_t end = i;
            while (end < tokens.size() && !tokens[end].is(";"))
                ++end;
            if (end < tokens.size())
                mutants.push_back({{token.span.begin, tokens[end].span.begin}, ""});
        }
    }
    return mutants;
}

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
            std::string changed = text;
            changed.replace(mutant.span.begin, mutant.span.size(), mutant.text);
            const ProgramSource after = program.with(changed);
            if (hasErrors(after))
                continue;
            ++tried;
            const Proof proof = proofOf(before, after, kernel.qualifiedName);
            if (!proof)
                continue;
            const auto begin = changed.rfind('\n', mutant.span.begin) + 1;
            const std::string line = changed.substr(begin, changed.find('\n', begin) - begin);
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
