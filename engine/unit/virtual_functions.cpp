#include "engine/unit/virtual_functions.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::Token;

namespace {

bool isVirtual(const Declaration& member, const std::vector<Token>& tokens) {
    const auto begin = std::ranges::lower_bound(
        tokens, member.span.begin, {}, [](const Token& token) { return token.span.begin; });
    for (auto at = begin; at != tokens.end() && at->span.begin < member.span.end; ++at) {
        if (at->is("virtual"))
            return true;
        if (at->is("(") || at->is("{"))
            return false;
    }
    return false;
}

} // namespace

bool hasVirtualDeviceFunctions(const ScannedProgram& program) {
    return std::ranges::any_of(program.files(), [](const ScannedProgram::File& file) {
        return std::ranges::any_of(file.scan.declarations, [&](const Declaration& type) {
            return std::ranges::any_of(type.members, [&](const Declaration& member) {
                return member.isDevice && isVirtual(member, file.tokens);
            });
        });
    });
}

} // namespace kernelskill::engine
