#include "engine/inputs/kernel_names.h"

#include <algorithm>
#include <string_view>

namespace kernelskill::engine {

using analysis::Token;

namespace {

class NameReader {
public:
    NameReader(const ProgramText& program, std::size_t file)
        : program_(program), file_(file), tokens_(program.files()[file].tokens) {}

    /// Adds the names that the use of the kernel at `token` gives it.
    void read(std::size_t token, std::vector<KernelName>& names) const {
        const FunctionText* function = program_.functionAt(file_, token);
        if (function == nullptr || token + 1 >= tokens_.size())
            return;
        std::size_t end = token + 1;
        std::vector<std::pair<std::size_t, std::size_t>> templateArguments;
        if (tokens_[end].is("<")) {
            const std::size_t close = matchingAngle(tokens_, end);
            if (close == end)
                return;
            templateArguments = program_.listBetween(file_, end, close);
            end = close + 1;
        }
        const bool isAlone =
            end < tokens_.size() && isOneOf(tokens_[end], {";", ",", ":", ")", "}"});
        if (!isAlone)
            return;
        if (const auto variable = variableGiven(token, function->bodyBegin))
            names.push_back({std::string(tokens_[*variable].text),
                             function,
                             end,
                             nextValue(*variable, end, *function),
                             templateArguments,
                             {}});
        else
            addParameters(token, function, templateArguments, names);
    }

private:
    static bool isOneOf(const Token& token, std::initializer_list<std::string_view> texts) {
        return std::ranges::any_of(texts, [&](std::string_view text) { return token.is(text); });
    }

    /// The variable of the `=` or the brace before `token`, with no call around the token. The type
    /// of a variable that is a pointer to a function may stand around its name.
    [[nodiscard]] std::optional<std::size_t> variableGiven(std::size_t token,
                                                           std::size_t first) const {
        for (std::size_t i = token; i-- > first + 1;) {
            if (isOneOf(tokens_[i], {";", "}"}))
                return std::nullopt;
            const bool isCall =
                tokens_[i].is("(") && tokens_[i - 1].isIdentifier() && !tokens_[i - 1].is("return");
            if (isCall)
                return std::nullopt;
            if (tokens_[i].is("{"))
                return tokens_[i - 1].isIdentifier() ? std::optional(i - 1) : std::nullopt;
            if (tokens_[i].is("="))
                return variableBefore(i);
        }
        return std::nullopt;
    }

    /// `f` of `f =` and of `void (*f)(float*, int) =`.
    [[nodiscard]] std::optional<std::size_t> variableBefore(std::size_t equals) const {
        if (tokens_[equals - 1].isIdentifier())
            return equals - 1;
        for (std::size_t i = equals; i-- > 2 && !isOneOf(tokens_[i], {";", "{", "}"});)
            if (tokens_[i].isIdentifier() && tokens_[i - 1].is("*") && tokens_[i - 2].is("(") &&
                tokens_[i + 1].is(")"))
                return i;
        return std::nullopt;
    }

    /// The next statement of the same block that gives the variable another value, or the end of
    /// the function.
    [[nodiscard]] std::size_t nextValue(std::size_t variable, std::size_t from,
                                        const FunctionText& function) const {
        const bool isStatement = isOneOf(tokens_[variable - 1], {";", "{", "}"}) ||
                                 tokens_[variable - 1].isIdentifier() ||
                                 isOneOf(tokens_[variable - 1], {"*", "&"});
        int depth = 0;
        for (std::size_t i = from; isStatement && i + 1 < function.bodyEnd && depth >= 0; ++i) {
            depth += tokens_[i].is("{") ? 1 : tokens_[i].is("}") ? -1 : 0;
            if (depth == 0 && tokens_[i].is(tokens_[variable].text) && tokens_[i + 1].is("=") &&
                isOneOf(tokens_[i - 1], {";", "}"}))
                return i;
        }
        return function.bodyEnd;
    }

    /// The parameters that a call around `token` passes the kernel as.
    void addParameters(std::size_t token, const FunctionText* caller,
                       const std::vector<std::pair<std::size_t, std::size_t>>& templateArguments,
                       std::vector<KernelName>& names) const {
        const auto call = callAround(token, caller->bodyBegin);
        if (!call)
            return;
        const TextPlace place{file_, *call, caller};
        const auto arguments = program_.argumentsAt(place);
        const auto argument = std::ranges::find_if(arguments, [&](const auto& range) {
            return range.first <= token && token < range.second;
        });
        if (argument == arguments.end())
            return;
        const auto index = static_cast<std::size_t>(argument - arguments.begin());
        for (const FunctionText* callee : program_.functionsNamed(tokens_[*call].text)) {
            if (callee == caller || callee->isKernel || index >= callee->parameters.size() ||
                callee->parameters[index].empty())
                continue;
            KernelName& name = names.emplace_back();
            name.name = callee->parameters[index];
            name.function = callee;
            name.from = callee->bodyBegin;
            name.to = callee->bodyEnd;
            if (callee->file == file_)
                name.templateArguments = templateArguments;
            name.call = place;
        }
    }

    /// The name of the function whose argument `token` is, itself or with casts around it.
    [[nodiscard]] std::optional<std::size_t> callAround(std::size_t token,
                                                        std::size_t first) const {
        int depth = 0;
        for (std::size_t i = token; i-- > first + 1;) {
            if (isOneOf(tokens_[i], {";", "{", "}", "="}))
                return std::nullopt;
            if (tokens_[i].is(")"))
                ++depth;
            if (!tokens_[i].is("("))
                continue;
            if (depth > 0) {
                --depth;
                continue;
            }
            std::size_t name = i - 1;
            if (tokens_[name].is(">")) // launch<192>(kernel)
                for (int open = 0; name > first; --name) {
                    open += tokens_[name].is(">") ? 1 : tokens_[name].is("<") ? -1 : 0;
                    if (open == 0) {
                        --name;
                        break;
                    }
                }
            if (tokens_[name].isIdentifier() && !tokens_[name].text.ends_with("_cast"))
                return name;
        }
        return std::nullopt;
    }

    const ProgramText& program_;
    std::size_t file_;
    const std::vector<Token>& tokens_;
};

} // namespace

std::vector<KernelName> otherNamesOf(const ProgramText& program, const std::string& kernel) {
    std::vector<KernelName> names;
    for (std::size_t file = 0; file < program.files().size(); ++file) {
        const NameReader reader(program, file);
        for (const std::size_t token : program.files()[file].tokensNamed(kernel))
            reader.read(token, names);
    }
    return names;
}

} // namespace kernelskill::engine
