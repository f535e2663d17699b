/// Gives names their values at a place in host code: from the last assignment before it, the
/// caller's argument, the constant or the macro. A guess from the name is the last resort, where it
/// is allowed.
#pragma once

#include "analysis/scan/expression.h"
#include "engine/inputs/device_answers.h"
#include "engine/inputs/program_text.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// The values that an evaluation used.
struct EvaluationLog {
    std::map<std::string, std::int64_t>
        roots; ///< Variables set to a literal: the sizes that others follow from.
    std::map<std::string, std::int64_t>
        guesses;                  ///< Names whose value is guessed from their spelling.
    std::set<std::string> counts; ///< Names that are a number of blocks or threads as they stand.
    bool asksDevice = false;      ///< A property of the device was used.
    /// A later assignment could not be evaluated: the value of an earlier one stands for it.
    bool usesEarlierValue = false;
};

struct EvaluationSettings {
    std::map<std::string, std::int64_t>
        overrides; ///< Values for names that replace those of the text.
    std::map<std::string, std::int64_t> typeSizes; ///< Bytes of types that are no builtins.
    bool mayGuess = false;
    AnsweringDevice device = AnsweringDevice::Small;
    /// Names whose guesses are always lengths; see guessLength().
    std::map<std::string, std::int64_t> lengths;
    /// The parameters of the function around the evaluated place have the values that this call
    /// passes. If nullopt, the first call whose arguments can be evaluated gives them.
    std::optional<TextPlace> call;
    EvaluationLog* log = nullptr;
    mutable std::size_t steps = 0; ///< Steps taken so far: text made to explode ends in "unknown".
    /// Conditions of branches evaluated so far, limited likewise.
    mutable std::size_t branches = 0;
};

class HostScope : public analysis::Names {
public:
    HostScope(const ProgramText& program, TextPlace place, const EvaluationSettings& settings)
        : program_(program), place_(place), settings_(settings) {}

    /// The value of the tokens [begin, end) of this place's file.
    [[nodiscard]] std::optional<analysis::Value> value(std::size_t begin, std::size_t end) const;
    /// The same as a grid or block: a dim3 expression, or a number for x.
    [[nodiscard]] std::optional<std::array<std::int64_t, 3>> extent(std::size_t begin,
                                                                    std::size_t end) const;
    [[nodiscard]] std::optional<std::array<std::int64_t, 3>>
    extent(const analysis::Expression& expression) const;

    /// Bytes that cudaMalloc and its kin gave the pointer that the tokens name, followed through
    /// the callers' arguments.
    [[nodiscard]] std::optional<std::int64_t> allocatedBytes(std::size_t begin,
                                                             std::size_t end) const;

    [[nodiscard]] std::optional<analysis::Value> name(const std::string& name) const override;
    [[nodiscard]] std::optional<analysis::Value> member(const analysis::Expression& object,
                                                        const std::string& member) const override;
    [[nodiscard]] std::optional<analysis::Value>
    call(const analysis::Expression& call) const override;
    [[nodiscard]] std::optional<std::int64_t> sizeOf(const std::string& type) const override;
    [[nodiscard]] bool takesKnownBranch() const override { return true; }

private:
    using Range = std::pair<std::size_t, std::size_t>;
    using Bindings = std::map<std::string, analysis::Value>;

    HostScope at(TextPlace place) const;
    /// A number of blocks or threads.
    [[nodiscard]] std::optional<analysis::Value>
    count(const analysis::Expression& expression) const;
    [[nodiscard]] bool tooDeep() const { return depth_ > 24 || ++settings_.steps > 20'000; }
    [[nodiscard]] const ProgramText::File& file() const { return program_.files()[place_.file]; }
    [[nodiscard]] const std::vector<analysis::Token>& tokens() const { return file().tokens; }
    [[nodiscard]] std::size_t expressionEnd(std::size_t begin) const;

    /// Places before this one, nearest first, where `name` is given a value, with the tokens of
    /// that value.
    struct Definition {
        std::size_t token = 0;
        Range value;
        bool isConstruction = false; ///< name(a, b) or name{a, b}
        /// The operator of `name += value` and `name++`, without "="; the value of the latter is
        /// empty.
        std::string_view change = {};
    };
    [[nodiscard]] std::vector<Definition> definitionsOf(const std::string& name) const;
    /// Whether the statement that holds the token runs on the way to this place, as far as the
    /// conditions around it tell.
    enum class Branch : std::uint8_t { Taken, NotTaken, Unknown };
    [[nodiscard]] Branch branchAt(std::size_t token) const;
    /// The change that the statement makes of the variable whose name is this token.
    [[nodiscard]] std::optional<Definition> changeAt(std::size_t token) const;
    /// The value after a change.
    [[nodiscard]] std::optional<analysis::Value> changedValue(const std::string& name,
                                                              const Definition& change) const;
    /// Whether the function around this place declares a pointer of that name before it.
    [[nodiscard]] bool isDeclaredHere(const std::string& pointer) const;
    /// The arguments that calls of the function around this place pass for its parameter or its
    /// template parameter.
    [[nodiscard]] std::vector<std::pair<TextPlace, Range>>
    callersArguments(const std::string& parameter) const;
    [[nodiscard]] std::string_view tokenText(const TextPlace& place) const;
    [[nodiscard]] std::vector<Range> templateArgumentsAt(const TextPlace& call) const;
    [[nodiscard]] std::optional<std::pair<TextPlace, Definition>>
    fileScopeDefinition(const std::string& name) const;

    [[nodiscard]] std::optional<analysis::Value> fromText(const std::string& name) const;
    /// The value of `Class::name`, or of `name` within `class_`, if it is a constant of that class.
    [[nodiscard]] std::optional<analysis::Value> classConstant(const std::string& name) const;
    /// A scope in which the constants of the class are known by their plain names. `name`, as the
    /// file has it, is the class, an alias of an instance of a template, or a template parameter of
    /// the function around this place.
    [[nodiscard]] HostScope inClass(const std::string& name, std::size_t file) const;
    /// The same for the instance of a template whose arguments begin with the "<" at `open`.
    [[nodiscard]] HostScope inInstance(TextPlace open) const;
    /// Returns the first result that `read(scope, expression)` makes of a definition of the macro.
    /// Those that name something unknown come last: they mostly stand in a branch of the
    /// preprocessor that is not compiled.
    template <typename Read>
    [[nodiscard]] std::invoke_result_t<Read, const HostScope&, const analysis::Expression&>
    fromDefinitions(const std::string& macro, const Read& read) const;
    [[nodiscard]] std::optional<analysis::Value> fromMacro(const std::string& name) const;
    /// Returns the value that a question to the device before this place gives the variable.
    [[nodiscard]] std::optional<std::int64_t> answerOfDevice(const std::string& name) const;
    /// The value that the definition, in such a branch, gives the name. A change counts only if it
    /// is known to be made.
    [[nodiscard]] std::optional<analysis::Value>
    valueOf(const std::string& name, const Definition& definition, Branch branch) const;
    /// The same as a grid or block.
    [[nodiscard]] std::optional<std::array<std::int64_t, 3>>
    extentOf(const std::string& name, const Definition& definition, Branch branch) const;
    [[nodiscard]] std::optional<std::array<std::int64_t, 3>>
    namedExtent(const std::string& name) const;
    void assignMembers(const std::string& name, std::size_t from,
                       std::array<std::int64_t, 3>& extent) const;
    /// The scope at the end of the function, with the values of the call's arguments.
    [[nodiscard]] HostScope calledWith(const FunctionText& function,
                                       const analysis::Expression& call) const;
    /// The `return`s of the function around this place, which is its end. The one that is known to
    /// be reached comes first, the others follow from the last on.
    [[nodiscard]] std::vector<std::size_t> returnsByLikelihood() const;
    [[nodiscard]] std::optional<analysis::Value>
    functionResult(const FunctionText& function, const analysis::Expression& call) const;
    [[nodiscard]] std::optional<analysis::Value> assignedMember(const std::string& object,
                                                                const std::string& member) const;
    void noteRoot(const std::string& name, const analysis::Expression& expression,
                  const analysis::Value& value) const;

    /// Notes that an assignment nearer than the one in use could not be evaluated.
    void noteSkipped() const;
    void noteRootExtent(const std::string& name, Range range,
                        const std::optional<std::array<std::int64_t, 3>>& extent) const;
    [[nodiscard]] bool isGiven(const std::string& name) const;

    const ProgramText& program_;
    TextPlace place_;
    const EvaluationSettings& settings_;
    Bindings bindings_;
    std::string class_; ///< The class whose constants are known by their plain names.
    std::map<std::string, std::int64_t> classTypes_; ///< Bytes of its type parameters.
    int depth_ = 0;
};

} // namespace kernelskill::engine
