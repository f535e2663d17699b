/// Constants of classes: `Config::threads`, also by an alias that instantiates a template.
#include "engine/inputs/host_scope.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::DeclarationKind;
using analysis::Token;
using analysis::Value;

HostScope HostScope::inClass(const std::string& name, std::size_t file) const {
    for (const auto& [call, type] : callersArguments(name)) {
        const std::vector<Token>& tokens = program_.files()[call.file].tokens;
        std::size_t open = type.first;
        while (open < type.second && !tokens[open].is("<"))
            ++open;
        const HostScope caller = at(call);
        if (open == type.second)
            return caller.inClass(std::string(tokens[type.second - 1].text), call.file);
        if (open > type.first)
            return caller.inInstance({call.file, open, call.function});
    }
    HostScope scope = at({file, 0, nullptr});
    scope.class_ = name;
    const auto alias = program_.typeNamed(name);
    if (!alias || alias->declaration->kind != DeclarationKind::Alias)
        return scope;
    const std::vector<Token>& tokens = program_.files()[alias->file].tokens;
    std::size_t open = program_.tokenAt(alias->file, alias->declaration->span.begin);
    const auto isInside = [&](std::size_t i) {
        return i < tokens.size() && tokens[i].span.begin < alias->declaration->span.end;
    };
    while (isInside(open) && !tokens[open].is("<"))
        ++open;
    if (!isInside(open) || open == 0)
        return scope;
    return inInstance({alias->file, open, nullptr});
}

HostScope HostScope::inInstance(TextPlace open) const {
    const std::vector<Token>& tokens = program_.files()[open.file].tokens;
    HostScope scope = at({open.file, 0, nullptr});
    scope.class_ = tokens[open.token - 1].text;
    const auto type = program_.typeNamed(scope.class_);
    if (!type || !type->declaration->isTemplate)
        return scope;
    const std::size_t header = program_.tokenAt(type->file, type->declaration->span.begin) + 1;
    const std::vector<Token>& owner = program_.files()[type->file].tokens;
    if (header >= owner.size())
        return scope;
    const auto parameters =
        program_.listBetween(type->file, header, analysis::matchingAngle(owner, header));
    const auto arguments =
        program_.listBetween(open.file, open.token, analysis::matchingAngle(tokens, open.token));
    for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
        const auto [begin, end] = arguments[i];
        const std::string parameter =
            parameterName(owner, parameters[i].first, parameters[i].second);
        if (const auto bytes = sizeOf(program_.textOf(open.file, begin, end)))
            scope.classTypes_.emplace(parameter, *bytes);
        else if (const auto value = at(open).value(begin, end))
            scope.bindings_.emplace(parameter, *value);
    }
    return scope;
}

std::optional<Value> HostScope::classConstant(const std::string& name) const {
    const std::size_t colons = name.rfind("::");
    const std::string owner =
        colons == std::string::npos ? class_ : analysis::lastName(name.substr(0, colons));
    if (owner.empty() || tooDeep())
        return std::nullopt;
    HostScope scope = colons == std::string::npos ? *this : inClass(owner, place_.file);
    ++scope.depth_;
    const auto found = fileScopeDefinition(scope.class_ + "::" + analysis::lastName(name));
    if (!found)
        return std::nullopt;
    scope.place_ = found->first;
    return scope.value(found->second.value.first, found->second.value.second);
}

} // namespace kernelskill::engine
