/// Mutations specific to device code: shared memory, warps, threads, limits.
#include "tests/engine/repair/benchmark/mutation.h"

#include <array>
#include <cctype>
#include <string>

namespace kernelskill::testing {
namespace {

using analysis::Span;

/// `extern __shared__ float s[];`: its tokens up to the ';'.
std::vector<Span> dynamicDeclarations(const Subject& subject) {
    std::vector<Span> declarations;
    for (std::size_t index : sequences(subject, {"extern", "__shared__"})) {
        std::size_t end = index;
        while (end < subject.tokens.size() && subject.at(end) != ";")
            ++end;
        declarations.push_back(
            {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(end)});
    }
    return declarations;
}

std::vector<Breakage> withoutExtern(const Subject& subject) {
    std::vector<Breakage> places;
    for (Span tokens : dynamicDeclarations(subject))
        places.push_back(without(subject, tokens.begin, tokens.begin + 1));
    return places;
}

std::vector<Breakage> dynamicRemoved(const Subject& subject) {
    std::vector<Breakage> places;
    for (Span tokens : dynamicDeclarations(subject))
        places.push_back(without(subject, tokens.begin, tokens.end + 1));
    return places;
}

/// `extern __shared__ float s[];` with an initializer's or a pointer's shape.
std::vector<Breakage> dynamicAsPointer(const Subject& subject) {
    std::vector<Breakage> places;
    for (Span tokens : dynamicDeclarations(subject))
        if (subject.at(tokens.end - 1) == "]" && subject.at(tokens.end - 2) == "[")
            places.push_back({{{subject.tokens[tokens.end - 3].span.begin,
                                subject.tokens[tokens.end - 3].span.begin},
                               "*"},
                              {{subject.tokens[tokens.end - 2].span.begin,
                                subject.tokens[tokens.end - 1].span.end},
                               ""}});
    return places;
}

/// `__shared__ float s[256];`: the token behind each ']' that ends a declarator.
template <typename Break>
std::vector<Breakage> ofSharedArrays(const Subject& subject, Break breaks) {
    std::vector<Breakage> places;
    for (std::size_t index : sequences(subject, {"__shared__"})) {
        if (subject.at(index - 1) == "extern")
            continue;
        std::size_t open = index;
        while (open < subject.tokens.size() && subject.at(open) != "[" && subject.at(open) != ";")
            ++open;
        if (subject.at(open) != "[")
            continue;
        std::size_t close = analysis::matchingBracket(subject.tokens, open);
        while (subject.at(close + 1) == "[")
            close = analysis::matchingBracket(subject.tokens, close + 1);
        breaks(open, close, places);
    }
    return places;
}

std::vector<Breakage> sharedWithInitializer(const Subject& subject) {
    return ofSharedArrays(subject,
                          [&](std::size_t, std::size_t close, std::vector<Breakage>& places) {
                              std::uint32_t end = subject.tokens[close].span.end;
                              if (subject.at(close + 1) == ";")
                                  places.push_back(changed({end, end}, " = {0}"));
                          });
}

std::vector<Breakage> sharedOfBlockDim(const Subject& subject) {
    return ofSharedArrays(
        subject, [&](std::size_t open, std::size_t close, std::vector<Breakage>& places) {
            if (open + 2 == close && subject.at(close + 1) == ";")
                places.push_back(changed(subject.tokens[open + 1].span, "blockDim.x"));
        });
}

std::vector<Breakage> withoutAxis(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::string_view name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
        for (std::size_t index : sequences(subject, {name, "."}))
            places.push_back(changed(
                {subject.tokens[index + 1].span.begin, subject.tokens[index + 2].span.end}, ""));
    return places;
}

bool isOfWarp(std::string_view name) {
    return (name.starts_with("__shfl_") || name.starts_with("__ballot_") ||
            name.starts_with("__any_") || name.starts_with("__all_")) &&
           name.ends_with("_sync");
}

/// The form from before CUDA 9: neither "_sync" nor mask.
std::vector<Breakage> warpOperation(const Subject& subject, bool isOld) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index + 2 < subject.tokens.size(); ++index) {
        std::string_view name = subject.at(index);
        if (!isOfWarp(name) || subject.at(index + 1) != "(")
            continue;
        const auto arguments = argumentsAt(subject, index + 1);
        if (arguments.size() < 2)
            continue;
        Breakage breakage;
        if (isOld)
            breakage.push_back(
                {subject.tokens[index].span, std::string(name.substr(0, name.size() - 5))});
        breakage.push_back({{arguments[0].begin, arguments[1].begin}, ""});
        places.push_back(std::move(breakage));
    }
    return places;
}

/// `#pragma unroll` a statement too early.
std::vector<Breakage> pragmaTooEarly(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index = 2; index + 1 < subject.tokens.size(); ++index) {
        if (subject.at(index) != "for" || subject.at(index - 1) != ";")
            continue;
        std::size_t begin = index - 2;
        while (begin > 0 && subject.at(begin - 1) != ";" && subject.at(begin - 1) != "{" &&
               subject.at(begin - 1) != "}" &&
               subject.tokens[begin - 1].kind != analysis::TokenKind::Directive)
            --begin;
        std::uint32_t line = subject.tokens[begin].span.begin;
        if (subject.tokens[begin].kind == analysis::TokenKind::Directive)
            continue;
        places.push_back(changed({line, line}, "\n#pragma unroll\n"));
    }
    return places;
}

} // namespace

std::vector<Mutation> deviceMutations() {
    return {
        {"extern of shared memory left out", withoutExtern},
        {"dynamic shared memory not declared", dynamicRemoved},
        {"dynamic shared memory as a pointer", dynamicAsPointer},
        {"shared array with initializer", sharedWithInitializer},
        {"shared array of blockDim elements", sharedOfBlockDim},
        {"threadIdx without an axis", withoutAxis},
        {"shuffle or vote of before CUDA 9",
         [](const Subject& subject) { return warpOperation(subject, true); }},
        {"shuffle or vote without mask",
         [](const Subject& subject) { return warpOperation(subject, false); }},
        {"#pragma unroll a statement early", pragmaTooEarly},
    };
}

} // namespace kernelskill::testing
