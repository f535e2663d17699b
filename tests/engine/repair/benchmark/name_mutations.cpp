/// Names that are misspelled, in each of the ways that fingers slip.
#include "tests/engine/repair/benchmark/mutation.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace kernelskill::testing {
namespace {

using analysis::Storage;
using analysis::Token;
using analysis::TokenKind;

constexpr std::size_t minNameLength = 3; // "i" misspelled is another name, not the same one wrong

/// Two letters swapped, one dropped or one doubled, as the name and its place in the file have it.
std::string misspelled(std::string_view name, std::size_t place) {
    std::string wrong(name);
    std::size_t first = name.find_first_not_of('_');
    if (first == std::string_view::npos || name.size() < first + 2)
        return wrong + "x";
    std::size_t letter = first + 1 + place % (name.size() - first - 1);
    switch (place % 3) {
    case 0:
        std::swap(wrong[letter - 1], wrong[letter]);
        break;
    case 1:
        wrong.erase(letter, 1);
        break;
    default:
        wrong.insert(letter, 1, wrong[letter]);
    }
    return wrong == name ? wrong + "s" : wrong;
}

template <typename Wanted>
std::vector<Breakage> misspelledWhere(const Subject& subject, Wanted wanted) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index < subject.tokens.size(); ++index)
        if (subject.isIdentifier(index) && wanted(index))
            places.push_back(
                changed(subject.tokens[index].span, misspelled(subject.at(index), index)));
    return places;
}

/// Uses, in the kernels' bodies, of variables that are stored so.
std::vector<Breakage> misspelledVariable(const Subject& subject, Storage storage) {
    std::vector<Breakage> places;
    for (const analysis::KernelModel& kernel : subject.model.kernels) {
        std::set<std::string_view> names;
        for (const analysis::Variable& variable : kernel.body.variables)
            if (variable.storage == storage && variable.name.size() >= minNameLength)
                names.insert(variable.name);
        auto some = misspelledWhere(subject, [&](std::size_t index) {
            const analysis::Span span = subject.tokens[index].span;
            bool isInBody = span.begin > kernel.bodySpan.begin && span.end < kernel.bodySpan.end;
            bool isDeclared =
                std::ranges::any_of(kernel.body.variables, [&](const analysis::Variable& variable) {
                    return variable.span.begin <= span.begin && span.begin < variable.span.end &&
                           subject.slice(variable.span).starts_with(subject.at(index));
                });
            return isInBody && !isDeclared && names.contains(subject.at(index));
        });
        places.insert(places.end(), some.begin(), some.end());
    }
    return places;
}

std::set<std::string_view> functionNames(const Subject& subject) {
    std::set<std::string_view> names;
    for (const auto* functions : {&subject.model.kernels, &subject.model.deviceFunctions})
        for (const analysis::KernelModel& function : *functions)
            names.insert(function.name);
    return names;
}

std::vector<Breakage> misspelledFunction(const Subject& subject) {
    const auto names = functionNames(subject);
    std::set<std::uint32_t> declared;
    for (const auto* functions : {&subject.model.kernels, &subject.model.deviceFunctions})
        for (const analysis::KernelModel& function : *functions)
            declared.insert(function.nameSpan.begin);
    return misspelledWhere(subject, [&](std::size_t index) {
        return names.contains(subject.at(index)) && subject.at(index).size() >= minNameLength &&
               !declared.contains(subject.tokens[index].span.begin);
    });
}

bool isBuiltin(std::string_view name) {
    return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

/// Functions that kernels call and the file does not declare: CUDA's.
std::vector<Breakage> misspelledIntrinsic(const Subject& subject) {
    const auto names = functionNames(subject);
    static const std::set<std::string_view> words{"if",     "for",    "while",
                                                  "return", "switch", "sizeof"};
    return misspelledWhere(subject, [&](std::size_t index) {
        std::uint32_t begin = subject.tokens[index].span.begin;
        bool isInKernel =
            std::ranges::any_of(subject.model.kernels, [&](const analysis::KernelModel& kernel) {
                return kernel.bodySpan.begin < begin && begin < kernel.bodySpan.end;
            });
        return isInKernel && subject.at(index + 1) == "(" && !subject.isIdentifier(index - 1) &&
               subject.at(index).size() >= minNameLength && !words.contains(subject.at(index)) &&
               !names.contains(subject.at(index));
    });
}

std::vector<Breakage> misspelledType(const Subject& subject) {
    static const std::set<std::string_view> types{"float",  "double", "int",    "unsigned", "half",
                                                  "size_t", "float4", "float2", "half2",    "dim3",
                                                  "bool",   "char",   "void"};
    return misspelledWhere(subject,
                           [&](std::size_t index) { return types.contains(subject.at(index)); });
}

std::vector<Breakage> misspelledQualifier(const Subject& subject) {
    static const std::set<std::string_view> qualifiers{"__global__", "__device__", "__shared__",
                                                       "__restrict__", "__constant__"};
    return misspelledWhere(
        subject, [&](std::size_t index) { return qualifiers.contains(subject.at(index)); });
}

bool isOfRuntime(std::string_view name) {
    return name.size() > 4 && name.starts_with("cuda") &&
           std::isupper(static_cast<unsigned char>(name[4])) != 0;
}

std::vector<Breakage> inLowerCase(const Subject& subject) {
    std::vector<Breakage> places;
    for (const Token& token : subject.tokens) {
        if (token.kind != TokenKind::Identifier ||
            (!isBuiltin(token.text) && !isOfRuntime(token.text)))
            continue;
        std::string lower(token.text);
        std::ranges::transform(lower, lower.begin(),
                               [](unsigned char letter) { return std::tolower(letter); });
        places.push_back(changed(token.span, lower));
    }
    return places;
}

std::vector<Breakage> withoutUnderscores(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index < subject.tokens.size(); ++index) {
        std::string_view name = subject.at(index);
        if (subject.isIdentifier(index) && name.starts_with("__") && !name.ends_with("__") &&
            subject.at(index + 1) == "(")
            places.push_back(changed(subject.tokens[index].span, std::string(name.substr(2))));
    }
    return places;
}

std::vector<Breakage> axisInUpperCase(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index + 2 < subject.tokens.size(); ++index)
        if (isBuiltin(subject.at(index)) && subject.at(index + 1) == ".") {
            std::string axis(subject.at(index + 2));
            axis[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(axis[0])));
            places.push_back(changed(subject.tokens[index + 2].span, axis));
        }
    return places;
}

std::vector<Breakage> misspelledHeader(const Subject& subject) {
    std::vector<Breakage> places;
    for (const analysis::Include& include : subject.model.includes) {
        std::string spelling = include.spelling;
        std::swap(spelling[2], spelling[3]);
        std::size_t place = subject.slice(include.span).find(include.spelling);
        if (place == std::string_view::npos || spelling == include.spelling)
            continue;
        auto begin = include.span.begin + static_cast<std::uint32_t>(place);
        places.push_back(
            changed({begin, begin + static_cast<std::uint32_t>(spelling.size())}, spelling));
    }
    return places;
}

} // namespace

std::vector<Mutation> nameMutations() {
    return {
        {"misspelled local",
         [](const Subject& subject) { return misspelledVariable(subject, Storage::Local); }},
        {"misspelled parameter",
         [](const Subject& subject) { return misspelledVariable(subject, Storage::Parameter); }},
        {"misspelled shared array",
         [](const Subject& subject) { return misspelledVariable(subject, Storage::Shared); }},
        {"misspelled function", misspelledFunction},
        {"misspelled threadIdx, blockIdx, ...",
         [](const Subject& subject) {
             return misspelledWhere(
                 subject, [&](std::size_t index) { return isBuiltin(subject.at(index)); });
         }},
        {"misspelled intrinsic", misspelledIntrinsic},
        {"misspelled runtime call",
         [](const Subject& subject) {
             return misspelledWhere(
                 subject, [&](std::size_t index) { return isOfRuntime(subject.at(index)); });
         }},
        {"misspelled type", misspelledType},
        {"misspelled qualifier", misspelledQualifier},
        {"CUDA name in lower case", inLowerCase},
        {"'__' of an intrinsic left out", withoutUnderscores},
        {"axis in upper case", axisInUpperCase},
        {"misspelled header", misspelledHeader},
    };
}

} // namespace kernelskill::testing
