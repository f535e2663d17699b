/// Fixes template arguments of launches and calls that are missing or of the wrong kind.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::TokenKind;

struct TemplateParameterText {
    bool isType = false;
    std::string name;
};

/// The parameters in `template <class T, int N>` before a function.
std::vector<TemplateParameterText> parametersOf(const RepairContext& context,
                                                const FunctionTokens& function) {
    std::vector<TemplateParameterText> parameters;
    std::size_t begin = function.head.begin;
    if (begin == 0 || context.textAt(begin - 1) != ">")
        return parameters;
    std::size_t open = begin - 1;
    int depth = 0;
    for (;; --open) {
        depth += context.textAt(open) == ">" ? 1 : context.textAt(open) == "<" ? -1 : 0;
        if (depth == 0 || open == 0)
            break;
    }
    for (TokenRange part : dividedAtCommas(context, {open + 1, begin - 1})) {
        std::string_view kind = context.textAt(part.begin);
        std::size_t name = part.begin;
        while (name + 1 < part.end && context.textAt(name + 1) != "=")
            ++name;
        parameters.push_back(
            {kind == "class" || kind == "typename", std::string(context.textAt(name))});
    }
    return parameters;
}

std::string elementOf(std::string type) {
    for (std::string_view word : {"const", "*", "&", " "})
        for (std::size_t place = type.find(word); place != std::string::npos;
             place = type.find(word))
            type.erase(place, word.size());
    return type;
}

/// The possible arguments for one parameter, likeliest first.
std::vector<std::string> valuesFor(const RepairContext& context, const CallText& call,
                                   const TemplateParameterText& parameter) {
    std::uint32_t offset = context.tokens[call.name].span.begin;
    auto caller = functionAround(context, offset);
    std::vector<std::string> values;
    if (parameter.isType) {
        // The element type of the passed array.
        for (TokenRange argument : call.arguments)
            if (caller)
                for (const DeclaredName& name : namesBefore(context, *caller, offset))
                    if (name.isPointer && name.name == textOf(context, argument))
                        values.push_back(elementOf(name.type));
        values.emplace_back("float");
        return values;
    }
    // A constant of the same name, an extent of the block, or an extent of a shared tile.
    bool isKnown = false;
    for (std::size_t index = caller ? caller->head.begin : call.name; index < call.name; ++index)
        isKnown |= context.textAt(index) == parameter.name;
    if (isKnown)
        values.push_back(parameter.name);
    auto addNumbers = [&](TokenRange range) {
        for (std::size_t index = range.begin; index < range.end; ++index)
            if (context.tokens[index].kind == TokenKind::Number &&
                context.textAt(index).find_first_of(".f") == std::string_view::npos)
                values.emplace_back(context.textAt(index));
    };
    const auto parts =
        call.configuration.isEmpty()
            ? std::vector<TokenRange>{}
            : dividedAtCommas(context, {call.configuration.begin + 1, call.configuration.end - 1});
    if (parts.size() > 1) {
        if (parts[1].end == parts[1].begin + 1 &&
            context.tokens[parts[1].begin].kind == TokenKind::Identifier)
            values.emplace_back(context.textAt(parts[1].begin));
        addNumbers(parts[1]);
        // For `dim3 block(16, 16)`.
        for (std::size_t index = 0; index + 1 < call.name; ++index)
            if (context.textAt(index) == context.textAt(parts[1].begin) &&
                context.textAt(index + 1) == "(")
                addNumbers({index + 2, analysis::matchingBracket(context.tokens, index + 1)});
    }
    return values;
}

std::string joined(const std::vector<std::string>& arguments) {
    std::string text = "<";
    for (const std::string& argument : arguments)
        text += (text.size() > 1 ? ", " : "") + argument;
    return text + ">";
}

/// The argument lists of other calls in the file.
std::vector<std::string> listsElsewhere(const RepairContext& context, const CallText& call) {
    std::vector<std::string> lists;
    for (std::size_t token = 0; token < context.tokens.size(); ++token) {
        auto other = token != call.name && context.textAt(token) == context.textAt(call.name)
                         ? callAt(context, token)
                         : std::nullopt;
        if (other && !other->templates.isEmpty())
            lists.emplace_back(textOf(context, other->templates));
    }
    return lists;
}

/// Adds every combination of arguments, up to a maximum.
void addCombinations(const RepairContext& context, const CallText& call,
                     const std::vector<TemplateParameterText>& parameters,
                     std::vector<std::string>& lists) {
    constexpr std::size_t maxLists = 8;
    std::vector<std::vector<std::string>> combinations{{}};
    for (const TemplateParameterText& parameter : parameters) {
        std::vector<std::vector<std::string>> longer;
        for (const auto& begun : combinations)
            for (const std::string& value : valuesFor(context, call, parameter)) {
                if (longer.size() == maxLists)
                    break;
                longer.push_back(begun);
                longer.back().push_back(value);
            }
        combinations = std::move(longer);
        if (combinations.empty())
            return;
        // The remaining ones may be deduced.
        for (const auto& begun : combinations)
            lists.push_back(joined(begun));
    }
}

} // namespace

std::vector<FixCandidate> templateFixes(const RepairContext& context, const Diagnostic& error) {
    if (!error.message.starts_with("no matching function for call") &&
        error.message.find("template argument") == std::string::npos)
        return {};
    std::vector<FixCandidate> candidates;
    for (const CallText& call : callsAround(context, error.span.begin)) {
        const auto functions = functionsNamed(context, context.textAt(call.name));
        if (functions.empty())
            continue;
        const auto parameters = parametersOf(context, functions.front());
        if (parameters.empty())
            continue;
        std::uint32_t behindName = context.tokens[call.name].span.end;
        analysis::Span span = call.templates.isEmpty() ? analysis::Span{behindName, behindName}
                                                       : spanOf(context, call.templates);
        std::vector<std::string> lists;
        bool isWrong = !call.templates.isEmpty();
        addCombinations(context, call, parameters, lists);
        for (std::string& list : listsElsewhere(context, call))
            lists.push_back(std::move(list));
        std::set<std::string> seen;
        for (const std::string& list : lists)
            if (seen.insert(list).second)
                candidates.push_back(
                    {"template-arguments",
                     isWrong ? fmt::format("change '{}' to '{}'", context.slice(span), list)
                             : fmt::format("insert '{}'", list),
                     {{span, list}}});
        if (isWrong)
            candidates.push_back(
                {"template-arguments", "leave the template arguments to deduction", {{span, ""}}});
    }
    return candidates;
}

} // namespace kernelskill::engine
