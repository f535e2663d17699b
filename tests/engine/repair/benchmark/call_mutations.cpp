/// Calls with arguments that are missing, too many or of another kind.
#include "tests/engine/repair/benchmark/mutation.h"

#include <algorithm>
#include <string>

namespace kernelskill::testing {
namespace {

using analysis::Span;

template <typename Wanted>
std::vector<Breakage> withoutAddress(const Subject& subject, Wanted isWanted) {
    std::vector<Breakage> places;
    for (std::size_t index = 0; index + 2 < subject.tokens.size(); ++index)
        if (isWanted(subject.at(index)) && subject.at(index + 1) == "(" &&
            subject.at(index + 2) == "&")
            places.push_back(changed(subject.tokens[index + 2].span, ""));
    return places;
}

std::vector<Breakage> copyWithoutDirection(const Subject& subject) {
    std::vector<Breakage> places;
    for (std::size_t index : sequences(subject, {"cudaMemcpy", "("})) {
        const auto arguments = argumentsAt(subject, index + 1);
        if (arguments.size() == 4)
            places.push_back(changed({arguments[2].end, arguments[3].end}, ""));
    }
    return places;
}

/// Calls, in the file, of the device functions that it defines.
std::vector<Breakage> ofDeviceCalls(const Subject& subject, bool isTooMany) {
    std::vector<Breakage> places;
    for (const analysis::KernelModel& function : subject.model.deviceFunctions)
        for (std::size_t index : sequences(subject, {function.name, "("})) {
            const auto arguments = argumentsAt(subject, index + 1);
            bool isDeclaration = subject.tokens[index].span.begin == function.nameSpan.begin;
            if (isDeclaration || arguments.empty() || function.file != subject.model.file)
                continue;
            Span last = arguments.back();
            if (isTooMany)
                places.push_back(
                    changed({last.end, last.end}, ", " + std::string(subject.slice(last))));
            else if (arguments.size() > 1)
                places.push_back(changed({arguments[arguments.size() - 2].end, last.end}, ""));
        }
    return places;
}

} // namespace

std::vector<Mutation> callMutations() {
    return {
        {"atomic without '&'",
         [](const Subject& subject) {
             return withoutAddress(
                 subject, [](std::string_view name) { return name.starts_with("atomic"); });
         }},
        {"cudaMalloc without '&'",
         [](const Subject& subject) {
             return withoutAddress(subject,
                                   [](std::string_view name) { return name.starts_with("cuda"); });
         }},
        {"cudaMemcpy without direction", copyWithoutDirection},
        {"device call with an argument too many",
         [](const Subject& subject) { return ofDeviceCalls(subject, true); }},
        {"device call with an argument too few",
         [](const Subject& subject) { return ofDeviceCalls(subject, false); }},
    };
}

} // namespace kernelskill::testing
