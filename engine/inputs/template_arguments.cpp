#include "engine/inputs/template_arguments.h"

#include "engine/inputs/argument_specs.h"
#include "engine/inputs/name_guesses.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using analysis::Token;
using analysis::Value;

namespace {

constexpr int maxCallDepth = 6; ///< Bounds templates that call templates; a cycle ends here too.

class TemplateReader {
public:
    TemplateReader(const ProgramText& program, const EvaluationSettings& strict)
        : program_(program), strict_(strict) {}

    /// Text of a template argument. Where one token ">>>" closes several lists, as in
    /// `k<A<B<int>>>()`, the range ends before it: the inner lists get their ends back.
    [[nodiscard]] std::string written(std::size_t file,
                                      std::pair<std::size_t, std::size_t> range) const {
        auto text = program_.textOf(file, range.first, range.second);
        for (auto open = std::ranges::count(text, '<') - std::ranges::count(text, '>'); open > 0;
             --open)
            text += '>';
        return text;
    }

    [[nodiscard]] static bool isDependent(const std::string& text, const FunctionText* host) {
        if (text.find("type-parameter") != std::string::npos)
            return true;
        return host != nullptr && std::ranges::any_of(analysis::lex(text), [&](const Token& token) {
                   return std::ranges::find(host->templateParameters, token.text) !=
                          host->templateParameters.end();
               });
    }

    /// `text` with the template parameters of `host` replaced by what a call of it gives them.
    [[nodiscard]] std::optional<std::string>
    resolved(const std::string& text, const FunctionText* host, int depth = 0) const {
        if (!isDependent(text, host))
            return text;
        if (host == nullptr || depth == maxCallDepth ||
            text.find("type-parameter") != std::string::npos)
            return std::nullopt;
        for (const TextPlace& call : program_.callsOf(host->name)) {
            const auto& tokens = program_.files()[call.file].tokens;
            const auto open = call.token + 1;
            if (call.function == host || !tokens[open].is("<"))
                continue;
            const auto given = program_.listBetween(call.file, open, matchingAngle(tokens, open));
            if (auto replaced = replace(text, *host, call, given, depth))
                return replaced;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Value> valueOf(const std::string& text,
                                               const TextPlace& place) const {
        const auto expression = analysis::parseExpression(text);
        return expression ? evaluate(*expression, HostScope(program_, place, strict_))
                          : std::nullopt;
    }

private:
    [[nodiscard]] std::optional<std::string>
    replace(const std::string& text, const FunctionText& host, const TextPlace& call,
            const std::vector<std::pair<std::size_t, std::size_t>>& given, int depth) const {
        std::string result;
        std::size_t copied = 0;
        for (const Token& token : analysis::lex(text)) {
            const auto parameter = std::ranges::find(host.templateParameters, token.text);
            if (parameter == host.templateParameters.end())
                continue;
            const auto index =
                static_cast<std::size_t>(parameter - host.templateParameters.begin());
            if (index >= given.size())
                return std::nullopt;
            const auto argument =
                resolved(written(call.file, given[index]), call.function, depth + 1);
            if (!argument)
                return std::nullopt;
            result += text.substr(copied, token.span.begin - copied) + *argument;
            copied = token.span.end;
        }
        return result + text.substr(copied);
    }

    const ProgramText& program_;
    const EvaluationSettings& strict_;
};

/// True if `text` uses a name that the function around `place`, or a lambda in it, declares: a
/// parameter or a variable.
bool isLocal(const ProgramText& program, const std::string& text, const TextPlace& place) {
    if (place.function == nullptr)
        return false;
    const auto& tokens = program.files()[place.file].tokens;
    const auto isDeclared = [&](std::size_t i) {
        const Token& next = tokens[i + 1];
        const bool followsType = tokens[i - 1].isIdentifier() && !tokens[i - 1].is("return");
        return next.is("=") || next.is("{") || (followsType && (next.is(",") || next.is(")")));
    };
    return std::ranges::any_of(analysis::lex(text), [&](const Token& name) {
        for (auto i = place.function->parametersBegin + 1;
             name.isIdentifier() && i + 1 < place.token; ++i)
            if (tokens[i].is(name.text) && isDeclared(i))
                return true;
        return false;
    });
}

/// Clang's spelling of a name in an unnamed namespace is no C++; the name alone finds it.
std::string withoutUnnamed(std::string text) {
    static constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (auto at = text.find(unnamed); at != std::string::npos; at = text.find(unnamed, at))
        text.erase(at, unnamed.size());
    return text;
}

/// `text`, the default of a parameter, with the arguments in the places of those before it.
std::string withArguments(const std::string& text, const analysis::KernelModel& kernel,
                          const std::vector<std::string>& arguments) {
    std::string result;
    std::size_t taken = 0;
    for (const Token& token : analysis::lex(text)) {
        for (std::size_t i = 0; token.isIdentifier() && i < arguments.size(); ++i) {
            if (!token.is(kernel.templateParameters[i].name))
                continue;
            result += text.substr(taken, token.span.begin - taken) + arguments[i];
            taken = token.span.end;
            break;
        }
    }
    return result + text.substr(taken);
}

bool isFunction(const analysis::TemplateParameter& parameter) {
    const auto& spelling = parameter.type.spelling;
    return spelling.find("(*)") != std::string::npos || spelling.find("(&)") != std::string::npos;
}

std::string guessed(const analysis::TemplateParameter& parameter) {
    if (isFunction(parameter))
        return {};
    const bool isEnumeration =
        parameter.type.pointerDepth == 0 && parameter.type.spelling != "auto" &&
        scalarKindOf(parameter.type.spelling) == analysis::ScalarKind::Unknown;
    if (isEnumeration)
        return "static_cast<" + parameter.type.spelling + ">(0)";
    if (parameter.type.scalar == analysis::ScalarKind::Bool)
        return "false";
    const auto guess = guessFromName(parameter.name);
    return std::to_string(std::max<std::int64_t>(guess.integer > 1024 ? 256 : guess.integer, 1));
}

} // namespace

std::vector<std::string> launchTemplateArguments(const ProgramText& program,
                                                 const analysis::KernelModel& kernel,
                                                 const EvaluationSettings& strict,
                                                 const TextPlace& place, const SiteText* site) {
    const TemplateReader reader(program, strict);
    const auto* host = site == nullptr ? nullptr : site->place.function;
    const auto argument = [&](const analysis::TemplateParameter& parameter,
                              const std::string& text) -> std::string {
        const auto resolved = text.empty() ? std::nullopt : reader.resolved(text, host);
        if (parameter.isType)
            return resolved.value_or("float");
        const bool isNumber =
            scalarKindOf(parameter.type.spelling) != analysis::ScalarKind::Unknown;
        if (resolved && isNumber) {
            if (const auto value = reader.valueOf(*resolved, place)) {
                if (parameter.type.scalar == analysis::ScalarKind::Bool)
                    return value->asInteger() != 0 ? "true" : "false";
                return std::to_string(value->asInteger());
            }
        }
        return resolved && !isLocal(program, *resolved, place) ? *resolved : guessed(parameter);
    };
    std::vector<std::string> result;
    for (std::size_t i = 0; i < kernel.templateParameters.size(); ++i) {
        std::string text;
        if (site != nullptr && i < site->templateArguments.size())
            text = reader.written(site->place.file, site->templateArguments[i]);
        else if (site != nullptr && site->site != nullptr &&
                 i < site->site->templateArguments.size())
            text = site->site->templateArguments[i];
        const analysis::TemplateParameter& parameter = kernel.templateParameters[i];
        result.push_back(text.empty() && parameter.defaultArgument
                             ? withArguments(*parameter.defaultArgument, kernel, result)
                             : withoutUnnamed(argument(parameter, text)));
    }
    return result;
}

} // namespace kernelskill::engine
