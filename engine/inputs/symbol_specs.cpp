#include "engine/inputs/symbol_specs.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/argument_specs.h"
#include "engine/inputs/name_guesses.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::Value;

namespace {

using analysis::ScalarKind;

struct DeviceVariable {
    std::string name;
    ScalarKind kind = ScalarKind::Unknown;
    bool isArray = false;
    bool isPointer = false;
    bool isInitialised = false;
    bool isConstantMemory = false;
};

/// A place where the host sets a variable.
struct HostCopy {
    TextPlace place;
    std::pair<std::size_t, std::size_t> source; ///< Tokens of `&n`; empty when there is none.
};

class SymbolReader {
public:
    SymbolReader(const ProgramText& program, const FunctionText& kernel)
        : program_(program), kernel_(kernel) {
        collectBodies(kernel);
    }

    [[nodiscard]] std::vector<DeviceVariable> variables() const {
        std::vector<DeviceVariable> result;
        for (std::size_t f = 0; f < program_.files().size(); ++f) {
            const auto& file = program_.files()[f];
            for (const auto& declaration : file.declarations) {
                if (declaration.kind != DeclarationKind::Variable || !declaration.isDeviceMemory)
                    continue;
                for (const auto& name : declaration.names) {
                    if (names_.contains(name))
                        result.push_back(variable(file, declaration, name));
                }
            }
        }
        return result;
    }

    /// The last of them that names the variable.
    [[nodiscard]] std::optional<HostCopy> hostCopy(const std::string& name) const {
        std::optional<HostCopy> result;
        for (std::size_t f = 0; f < program_.files().size(); ++f) {
            const auto& tokens = program_.files()[f].tokens;
            for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
                const bool copies = tokens[i].text.starts_with("cudaMemcpyToSymbol");
                if ((!copies && !tokens[i].is("cudaGetSymbolAddress")) || !tokens[i + 1].is("("))
                    continue;
                const TextPlace place{f, i, program_.functionAt(f, i)};
                const auto arguments = program_.argumentsAt(place);
                if (arguments.size() < 2)
                    continue;
                const auto [begin, end] = arguments[copies ? 0 : 1];
                bool named = false;
                for (auto j = begin; j < end; ++j)
                    named = named || tokens[j].is(name) || tokens[j].text == "\"" + name + "\"";
                if (named)
                    result = HostCopy{place, copies ? arguments[1] : std::pair{end, end}};
            }
        }
        return result;
    }

    /// Whether the kernel, or a function that it calls, may write the variable.
    [[nodiscard]] bool isOwn(const std::string& name) const {
        return std::ranges::any_of(bodies_, [&](const auto* body) { return writes(*body, name); });
    }

    /// Whether the kernel, and the functions that it calls, use the variable for nothing but plain
    /// assignments to it.
    [[nodiscard]] bool isOnlyAssigned(const std::string& name) const {
        return std::ranges::all_of(bodies_, [&](const FunctionText* body) {
            const ProgramText::File& file = program_.files()[body->file];
            return std::ranges::all_of(file.tokensNamed(name), [&](std::size_t at) {
                return at < body->bodyBegin || at > body->bodyEnd || isAssigned(*body, at);
            });
        });
    }

    /// Whether a function that the kernel does not call names the variable.
    [[nodiscard]] bool isNamedElsewhere(const std::string& name) const {
        for (std::size_t f = 0; f < program_.files().size(); ++f) {
            for (const std::size_t at : program_.files()[f].tokensNamed(name)) {
                const FunctionText* function = program_.functionAt(f, at);
                if (function != nullptr && std::ranges::find(bodies_, function) == bodies_.end())
                    return true;
            }
        }
        return false;
    }

    [[nodiscard]] const FunctionText* otherWriter(const std::string& name) const {
        for (const FunctionText& function : program_.functions()) {
            if (function.isKernel && &function != &kernel_ && writes(function, name))
                return &function;
        }
        return nullptr;
    }

    [[nodiscard]] std::uint32_t lineOf(TextPlace place) const {
        const auto& file = program_.files()[place.file];
        const auto at = static_cast<std::ptrdiff_t>(file.tokens[place.token].span.begin);
        return 1 + static_cast<std::uint32_t>(
                       std::count(file.text.begin(), file.text.begin() + at, '\n'));
    }

private:
    void collectBodies(const FunctionText& kernel) {
        std::set<const FunctionText*> known{&kernel};
        bodies_.push_back(&kernel);
        for (std::size_t next = 0; next < bodies_.size(); ++next) {
            const FunctionText& function = *bodies_[next];
            const auto& tokens = program_.files()[function.file].tokens;
            for (auto i = function.bodyBegin; i < function.bodyEnd; ++i) {
                if (!tokens[i].isIdentifier() || !names_.emplace(tokens[i].text).second)
                    continue;
                for (const auto* called : program_.functionsNamed(tokens[i].text)) {
                    if (!called->isKernel && known.insert(called).second)
                        bodies_.push_back(called);
                }
            }
        }
    }

    static DeviceVariable variable(const ProgramText::File& file, const Declaration& declaration,
                                   const std::string& name) {
        const auto text =
            std::string_view(file.text).substr(declaration.span.begin, declaration.span.size());
        DeviceVariable result;
        result.name = name;
        result.isInitialised = declaration.isInitialised;
        result.isConstantMemory = declaration.isConstantMemory;
        const auto tokens = analysis::lex(text);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (!tokens[i].is(name))
                continue;
            result.isArray = i + 1 < tokens.size() && tokens[i + 1].is("[");
            result.isPointer = i > 0 && tokens[i - 1].is("*");
            result.kind = scalarKindOf(text.substr(0, tokens[i].span.begin));
            break;
        }
        return result;
    }

    /// The token behind `name[i].x`, whose name is the token `at`.
    [[nodiscard]] std::string_view behind(const FunctionText& function, std::size_t at) const {
        const auto& tokens = program_.files()[function.file].tokens;
        auto next = at + 1;
        while (next < function.bodyEnd && (tokens[next].is("[") || tokens[next].is(".")))
            next = tokens[next].is("[") ? matchingBracket(tokens, next) + 1 : next + 2;
        return next < function.bodyEnd ? tokens[next].text : std::string_view{};
    }

    /// Whether the use of the variable at the token is a statement that assigns to it.
    [[nodiscard]] bool isAssigned(const FunctionText& function, std::size_t at) const {
        const auto& before = program_.files()[function.file].tokens[at - 1];
        const bool beginsStatement = before.is(";") || before.is("{") || before.is("}") ||
                                     before.is(")") || before.is("else");
        return beginsStatement && behind(function, at) == "=";
    }

    [[nodiscard]] bool writes(const FunctionText& function, const std::string& name) const {
        const auto& tokens = program_.files()[function.file].tokens;
        for (auto i = function.bodyBegin + 1; i < function.bodyEnd; ++i) {
            if (!tokens[i].is(name))
                continue;
            if (tokens[i - 1].is("&") || tokens[i - 1].is("++") || tokens[i - 1].is("--"))
                return true; // An atomic, or its address is passed on.
            const auto after = behind(function, i);
            const bool isUpdated = after == "," && tokens[i - 1].is("(") && i > 1 &&
                                   tokens[i - 2].text.starts_with("atomic");
            if (isUpdated) // An array, which stands for its address.
                return true;
            const bool compares = after == "==" || after == "<=" || after == ">=" || after == "!=";
            if (after == "++" || after == "--" || (after.ends_with('=') && !compares))
                return true;
        }
        return false;
    }

    const ProgramText& program_;
    const FunctionText& kernel_;
    std::vector<const FunctionText*>
        bodies_; ///< The bodies of the kernel and of the functions that it calls.
    std::set<std::string, std::less<>> names_;
};

} // namespace

SymbolContents symbolContents(const ProgramText& program, const FunctionText& kernel,
                              const EvaluationSettings& settings) {
    SymbolContents result;
    const SymbolReader reader(program, kernel);
    for (const DeviceVariable& variable : reader.variables()) {
        const auto copy = reader.hostCopy(variable.name);
        const FunctionText* writer = copy ? nullptr : reader.otherWriter(variable.name);
        if (variable.isPointer || reader.isOwn(variable.name) ||
            (!copy && (writer == nullptr || variable.isInitialised)))
            continue;
        SymbolSpec spec;
        spec.name = variable.name;
        std::string contents = "plausible values";
        if (!variable.isArray && variable.kind != ScalarKind::Unknown) {
            std::optional<Value> value;
            if (copy && copy->source.first < copy->source.second) {
                auto begin = copy->source.first;
                begin += program.files()[copy->place.file].tokens[begin].is("&") ? 1 : 0;
                value = HostScope(program, copy->place, settings).value(begin, copy->source.second);
            }
            if (value && value->asDouble() == 0)
                continue;
            const auto guess = guessFromName(variable.name);
            spec.fill = Fill::Constant;
            spec.value = value ? value->asDouble()
                         : isFloatingScalar(variable.kind)
                             ? guess.floating
                             : static_cast<double>(std::max<std::int64_t>(guess.integer, 1));
            contents = (isFloatingScalar(variable.kind)
                            ? std::to_string(spec.value)
                            : std::to_string(static_cast<std::int64_t>(spec.value))) +
                       (value ? "" : ", going by its name");
        } else if (variable.kind != ScalarKind::Unknown) {
            contents = isFloatingScalar(variable.kind) ? "random values" : "small integers";
        }
        result.notes.push_back(
            "variable '" + variable.name + "' is set " +
            (copy ? "by the host on line " + std::to_string(reader.lineOf(copy->place))
                  : "by kernel '" + writer->name + "'") +
            "; it is taken to hold " + contents);
        result.symbols.push_back(std::move(spec));
    }
    return result;
}

std::vector<SymbolSpec> writtenVariables(const ProgramText& program, const FunctionText& kernel) {
    std::vector<SymbolSpec> written;
    const SymbolReader reader(program, kernel);
    for (const DeviceVariable& variable : reader.variables()) {
        const bool outlives = !variable.isArray || reader.isNamedElsewhere(variable.name);
        const bool isParameter =
            std::ranges::find(kernel.parameters, variable.name) != kernel.parameters.end();
        if (variable.isPointer || variable.isConstantMemory || isParameter || !outlives ||
            !reader.isOwn(variable.name))
            continue;
        SymbolSpec spec{.name = variable.name, .fill = Fill::Poison, .isOutput = true};
        spec.isFilled = !variable.isInitialised && !reader.hostCopy(variable.name) &&
                        reader.isOnlyAssigned(variable.name);
        written.push_back(std::move(spec));
    }
    return written;
}

std::vector<std::string> namesOfWrittenVariables(const ProgramText& program,
                                                 const FunctionText& kernel) {
    std::vector<std::string> names;
    const SymbolReader reader(program, kernel);
    for (const DeviceVariable& variable : reader.variables())
        if (!variable.isConstantMemory && reader.isOwn(variable.name) &&
            std::ranges::find(kernel.parameters, variable.name) == kernel.parameters.end())
            names.push_back(variable.name);
    return names;
}

std::optional<PointerSymbol> pointerSymbol(const ProgramText& program, const FunctionText& kernel) {
    const SymbolReader reader(program, kernel);
    for (const DeviceVariable& variable : reader.variables()) {
        const auto copy = variable.isPointer ? reader.hostCopy(variable.name) : std::nullopt;
        if (copy)
            return PointerSymbol{variable.name, program.files()[copy->place.file].path + ":" +
                                                    std::to_string(reader.lineOf(copy->place))};
    }
    return std::nullopt;
}

bool isDeviceVariable(const ProgramText& program, const std::string& name) {
    return std::ranges::any_of(program.files(), [&](const ProgramText::File& file) {
        return std::ranges::any_of(file.declarations, [&](const Declaration& declaration) {
            return declaration.kind == DeclarationKind::Variable && declaration.isDeviceMemory &&
                   std::ranges::find(declaration.names, name) != declaration.names.end();
        });
    });
}

} // namespace kernelskill::engine
