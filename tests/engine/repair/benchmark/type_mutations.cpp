/// Pointers, constness and element types that do not fit.
#include "tests/engine/repair/benchmark/mutation.h"

#include <array>
#include <string>
#include <utility>

namespace kernelskill::testing {
namespace {

using analysis::KernelModel;
using analysis::Parameter;
using analysis::Span;

/// The '*' of parameters that are pointers.
std::vector<Breakage> pointerLost(const Subject& subject) {
    std::vector<Breakage> places;
    for (const KernelModel& kernel : subject.model.kernels)
        for (const Parameter& parameter : kernel.parameters) {
            std::size_t star = subject.slice(parameter.span).find('*');
            if (star == std::string_view::npos)
                continue;
            auto place = parameter.span.begin + static_cast<std::uint32_t>(star);
            places.push_back(changed({place, place + 1}, " "));
        }
    return places;
}

/// `int i = 0` as `int* i = 0` or `float i = 0`, in kernels.
std::vector<Breakage> localOfType(const Subject& subject, std::string_view type) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index + 2 < subject.tokens.size(); ++index) {
        std::string_view word = subject.at(index);
        bool isInteger = word == "int" || word == "unsigned" || word == "size_t";
        if (isInteger && subject.isIdentifier(index + 1) && subject.at(index + 2) == "=")
            places.push_back(changed(subject.tokens[index].span, std::string(type)));
    }
    return places;
}

/// Parameters behind which the kernel writes, as pointers to const.
std::vector<Breakage> constGained(const Subject& subject) {
    std::vector<Breakage> places;
    for (const auto* functions : {&subject.model.kernels, &subject.model.deviceFunctions})
        for (const KernelModel& function : *functions)
            for (const Parameter& parameter : function.parameters)
                if (parameter.isWritten && parameter.type.pointerDepth == 1 &&
                    function.file == subject.model.file)
                    places.push_back(
                        changed({parameter.span.begin, parameter.span.begin}, "const "));
    return places;
}

/// Parameters that are pointers to const, without it.
std::vector<Breakage> constLost(const Subject& subject) {
    std::vector<Breakage> places;
    for (const auto* functions : {&subject.model.kernels, &subject.model.deviceFunctions})
        for (const KernelModel& function : *functions)
            for (const Parameter& parameter : function.parameters)
                if (subject.slice(parameter.span).starts_with("const ") &&
                    parameter.type.pointerDepth == 1 && function.file == subject.model.file)
                    places.push_back(changed({parameter.span.begin, parameter.span.begin + 6}, ""));
    return places;
}

/// `const` in front of a local that is changed later.
std::vector<Breakage> constLocal(const Subject& subject) {
    std::vector<Breakage> places;
    for (const KernelModel& kernel : subject.model.kernels)
        for (const analysis::Variable& variable : kernel.body.variables)
            if (variable.storage == analysis::Storage::Local && !variable.fromMacro &&
                kernel.bodySpan.begin < variable.span.begin && variable.type.arrayExtents.empty())
                places.push_back(changed(
                    {variable.declarationSpan.begin, variable.declarationSpan.begin}, "const "));
    return places;
}

/// Conversions of 16-bit floats, taken off their argument.
std::vector<Breakage> withoutConversion(const Subject& subject) {
    static constexpr std::array conversions{"__half2float", "__float2half", "__bfloat162float",
                                            "__float2bfloat16"};
    std::vector<Breakage> places;
    for (std::string_view name : conversions)
        for (std::size_t index : sequences(subject, {name, "("})) {
            std::size_t close = analysis::matchingBracket(subject.tokens, index + 1);
            Span call{subject.tokens[index].span.begin, subject.tokens[close].span.end};
            places.push_back(
                changed(call, std::string(subject.slice({subject.tokens[index + 1].span.end,
                                                         subject.tokens[close].span.begin}))));
        }
    return places;
}

std::vector<Breakage> otherMember(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index = 1; index + 1 < subject.tokens.size(); ++index) {
        std::string_view object = subject.at(index - 1);
        bool isIndex = object == "threadIdx" || object == "blockIdx" || object == "blockDim" ||
                       object == "gridDim";
        bool isDot = subject.at(index) == "." && !isIndex;
        if ((isDot || subject.at(index) == "->") && subject.isIdentifier(index + 1))
            places.push_back(changed(subject.tokens[index].span, isDot ? "->" : "."));
    }
    return places;
}

} // namespace

std::vector<Mutation> typeMutations() {
    return {
        {"pointer parameter without '*'", pointerLost},
        {"integer declared as a pointer",
         [](const Subject& subject) { return localOfType(subject, "int*"); }},
        {"index declared as float",
         [](const Subject& subject) { return localOfType(subject, "float"); }},
        {"written parameter declared const", constGained},
        {"const of a parameter left out", constLost},
        {"changed local declared const", constLocal},
        {"half conversion left out", withoutConversion},
        {"'->' for '.' or '.' for '->'", otherMember},
    };
}

} // namespace kernelskill::testing
