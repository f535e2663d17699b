/// Declarations, attributes and directives that are missing or not as CUDA wants them.
#include "tests/engine/repair/benchmark/mutation.h"

#include <algorithm>
#include <set>

namespace kernelskill::testing {
namespace {

using analysis::FunctionKind;
using analysis::KernelModel;
using analysis::Span;
using analysis::TokenKind;

bool isType(std::string_view word) {
    static const std::set<std::string_view> types{"float", "double", "int",  "unsigned",
                                                  "half",  "size_t", "auto", "bool"};
    return types.contains(word);
}

/// `int i = blockIdx.x * blockDim.x + threadIdx.x;`
std::vector<Breakage> withoutIndexDeclaration(const Subject& subject) {
    std::vector<Breakage> places;
    for (const KernelModel& kernel : subject.model.kernels)
        for (const analysis::Variable& variable : kernel.body.variables) {
            bool isIndex = variable.storage == analysis::Storage::Local &&
                           subject.slice(variable.span).find("Idx.") != std::string_view::npos;
            if (isIndex)
                places.push_back(changed(variable.declarationSpan, ""));
        }
    return places;
}

/// `int i = 0` as `i = 0`, where the parentheses around it are as many as `level`.
std::vector<Breakage> withoutType(const Subject& subject, int level) {
    std::vector<Breakage> places;
    const std::vector<int> levels = nesting(subject);
    for (std::size_t index = 1; index + 2 < subject.tokens.size(); ++index) {
        std::string_view before = subject.at(index - 1);
        bool starts = before == ";" || before == "{" || before == "}" || before == ")" ||
                      (level > 0 && before == "(");
        if (starts && levels[index] == level && isType(subject.at(index)) &&
            subject.isIdentifier(index + 1) && subject.at(index + 2) == "=")
            places.push_back(without(subject, index, index + 1));
    }
    return places;
}

/// Constants of the whole file: `#define N 16`, `const int n = 16;`, `constexpr`.
std::vector<Breakage> withoutConstant(const Subject& subject) {
    std::vector<Breakage> places;
    int depth = 0;
    for (std::size_t index = 0; index < subject.tokens.size(); ++index) {
        const analysis::Token& token = subject.tokens[index];
        depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
        bool isMacro = token.kind == TokenKind::Directive && token.text.starts_with("#define");
        if (isMacro)
            places.push_back(changed(token.span, ""));
        bool isConstant = depth == 0 && (token.text == "const" || token.text == "constexpr") &&
                          isType(subject.at(index + 1)) && subject.at(index + 3) == "=";
        if (!isConstant)
            continue;
        std::size_t end = index;
        while (end < subject.tokens.size() && subject.at(end) != ";")
            ++end;
        places.push_back(without(subject, index, end + 1));
    }
    return places;
}

std::vector<Breakage> withoutInclude(const Subject& subject, bool isOfCuda) {
    static const std::set<std::string_view> ofCuda{"<cuda_fp16.h>",
                                                   "<cuda_bf16.h>",
                                                   "<cooperative_groups.h>",
                                                   "<cooperative_groups/reduce.h>",
                                                   "<cooperative_groups/memcpy_async.h>",
                                                   "<curand_kernel.h>",
                                                   "<mma.h>",
                                                   "<cuda_pipeline.h>",
                                                   "<cuComplex.h>"};
    std::vector<Breakage> places;
    for (const analysis::Include& include : subject.model.includes)
        if (ofCuda.contains(include.spelling) == isOfCuda)
            places.push_back(changed(include.span, ""));
    return places;
}

/// `namespace cg = cooperative_groups;`, `using namespace nvcuda;`
std::vector<Breakage> withoutAlias(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index + 3 < subject.tokens.size(); ++index) {
        bool isAlias = subject.at(index) == "namespace" && subject.at(index + 2) == "=";
        bool isUsing = subject.at(index) == "using" && subject.at(index + 1) == "namespace";
        if (!isAlias && !isUsing)
            continue;
        std::size_t end = index;
        while (end < subject.tokens.size() && subject.at(end) != ";")
            ++end;
        places.push_back(without(subject, index, end + 1));
    }
    return places;
}

/// The tokens between a function's attributes and its name: [begin, end).
Span returnTypeTokens(const Subject& subject, const KernelModel& function) {
    std::size_t name = tokenFrom(subject, function.nameSpan.begin);
    std::size_t begin = name;
    while (begin > 0 && subject.isIdentifier(begin - 1) &&
           !subject.at(begin - 1).starts_with("__") && subject.at(begin - 1) != "inline" &&
           subject.at(begin - 1) != "static")
        --begin;
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(name)};
}

std::vector<Breakage> withoutReturnType(const Subject& subject,
                                        const std::vector<KernelModel>& functions) {
    std::vector<Breakage> places;
    for (const KernelModel& function : functions) {
        Span type = returnTypeTokens(subject, function);
        if (function.file == subject.model.file && type.begin < type.end)
            places.push_back(without(subject, type.begin, type.end));
    }
    return places;
}

std::vector<Breakage> kernelWithReturnType(const Subject& subject) {
    std::vector<Breakage> places;
    for (const KernelModel& kernel : subject.model.kernels) {
        Span type = returnTypeTokens(subject, kernel);
        if (type.begin + 1 == type.end)
            places.push_back(changed(subject.tokens[type.begin].span, "int"));
    }
    return places;
}

std::vector<Breakage> kernelReturnsValue(const Subject& subject) {
    std::vector<Breakage> places;
    for (const KernelModel& kernel : subject.model.kernels) {
        for (std::size_t index : sequences(subject, {"return", ";"})) {
            Span span = subject.tokens[index].span;
            if (kernel.bodySpan.begin < span.begin && span.end < kernel.bodySpan.end)
                places.push_back(changed(span, "return 0"));
        }
        places.push_back(
            changed({kernel.bodySpan.end - 1, kernel.bodySpan.end - 1}, "return 0;\n"));
    }
    return places;
}

std::vector<Breakage> withoutEach(const Subject& subject, std::string_view word) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index < subject.tokens.size(); ++index)
        if (subject.at(index) == word)
            places.push_back(without(subject, index, index + 1));
    return places;
}

/// `const int n = 64; ... float a[n]` with a variable n.
std::vector<Breakage> variableExtent(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::string_view word : {"const", "constexpr"})
        for (std::size_t index : sequences(subject, {word}))
            if (isType(subject.at(index + 1)) && subject.isIdentifier(index + 2) &&
                subject.at(index + 3) == "=")
                places.push_back(without(subject, index, index + 1));
    return places;
}

} // namespace

std::vector<Mutation> declarationMutations() {
    return {
        {"index declaration removed", withoutIndexDeclaration},
        {"type of a declaration left out",
         [](const Subject& subject) { return withoutType(subject, 0); }},
        {"type of a loop variable left out",
         [](const Subject& subject) { return withoutType(subject, 1); }},
        {"constant removed", withoutConstant},
        {"CUDA header not included",
         [](const Subject& subject) { return withoutInclude(subject, true); }},
        {"other header not included",
         [](const Subject& subject) { return withoutInclude(subject, false); }},
        {"namespace alias removed", withoutAlias},
        {"__global__ left out",
         [](const Subject& subject) { return withoutEach(subject, "__global__"); }},
        {"__device__ left out",
         [](const Subject& subject) { return withoutEach(subject, "__device__"); }},
        {"kernel without return type",
         [](const Subject& subject) { return withoutReturnType(subject, subject.model.kernels); }},
        {"device function without return type",
         [](const Subject& subject) {
             return withoutReturnType(subject, subject.model.deviceFunctions);
         }},
        {"kernel declared to return int", kernelWithReturnType},
        {"kernel returns a value", kernelReturnsValue},
        {"extent of an array not constant", variableExtent},
    };
}

} // namespace kernelskill::testing
