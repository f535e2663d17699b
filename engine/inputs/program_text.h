/// The user's files as tokens, and the places of function definitions, calls and assignments in
/// them. Text that the preprocessor leaves out is not read, but for macros that are defined nowhere
/// else.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/scan/declarations.h"
#include "analysis/scan/expression.h"
#include "analysis/scan/macros.h"
#include "analysis/syntax/brackets.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// A function definition in the text.
struct FunctionText {
    std::size_t file = 0;
    std::string name;
    std::size_t bodyBegin = 0; ///< Token indices: of '{' and '}' …
    std::size_t bodyEnd = 0;
    std::size_t parametersBegin = 0; ///< … and of the parentheses of its parameters.
    std::size_t parametersEnd = 0;
    std::vector<std::string> parameters; ///< Names, in order; empty for an unnamed one.
    std::vector<std::pair<std::size_t, std::size_t>>
        defaults; ///< Token range of each default argument; empty range: none.
    std::vector<std::string> templateParameters;
    bool isKernel = false;
};

/// A place in the text: just before token `token` of `file`.
struct TextPlace {
    std::size_t file = 0;
    std::size_t token = 0;
    const FunctionText* function = nullptr; ///< Enclosing definition; nullptr at file scope.
};

/// A call like `cudaMalloc(&pointer, bytes)`.
struct AllocationText {
    std::size_t file = 0;
    std::size_t token = 0; ///< The name of the function.
    std::pair<std::size_t, std::size_t> bytes;
};

/// Immutable, so threads may share it. Each question takes time that depends on the answer, not on
/// the length of the text: it is asked for each kernel of a file.
class ProgramText {
public:
    /// Reads the user files of `model` other than the main one from the disk, unless the model has
    /// their contents.
    explicit ProgramText(const analysis::FileModel& model);
    ProgramText(const ProgramText&) = delete;
    ProgramText& operator=(const ProgramText&) = delete;

    struct File {
        std::string path;
        std::string text;
        std::vector<analysis::Token> directives;
        std::vector<analysis::Token> tokens; ///< structuralTokens
        std::vector<analysis::Declaration> declarations;
        std::unordered_map<std::string_view, std::vector<std::size_t>> tokensByName;
        analysis::Brackets brackets = {}; ///< Of `tokens`.

        /// Indices of the identifiers that are spelled so, in order.
        [[nodiscard]] const std::vector<std::size_t>& tokensNamed(std::string_view name) const;
        /// Those of them from the token `begin` on and before the token `end`.
        [[nodiscard]] std::span<const std::size_t>
        tokensNamed(std::string_view name, std::size_t begin,
                    std::size_t end = std::numeric_limits<std::size_t>::max()) const;
    };
    [[nodiscard]] const std::deque<File>& files() const { return files_; }
    /// The definitions that the preprocessor leaves out come last.
    [[nodiscard]] const analysis::MacroTable& macros() const { return macros_; }
    [[nodiscard]] const std::deque<FunctionText>& functions() const { return functions_; }
    [[nodiscard]] const std::vector<const FunctionText*>&
    functionsNamed(std::string_view name) const;

    /// Index of the file; nullopt when it is not a user file.
    [[nodiscard]] std::optional<std::size_t> fileIndex(std::string_view path) const;
    [[nodiscard]] std::size_t tokenAt(std::size_t file, std::uint32_t offset) const;
    [[nodiscard]] TextPlace placeAt(std::size_t file, std::uint32_t offset) const;
    [[nodiscard]] const FunctionText* functionAt(std::size_t file, std::size_t token) const;

    /// Places where `name` stands before "(" (or "<…>(") outside its own definition: the token of
    /// the name.
    [[nodiscard]] std::vector<TextPlace> callsOf(const std::string& name) const;
    /// Token ranges of the arguments of the call whose name stands at `place`.
    [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>>
    argumentsAt(const TextPlace& place) const;
    /// Comma-separated token ranges between tokens `open` and `close` (both excluded).
    [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>>
    listBetween(std::size_t file, std::size_t open, std::size_t close) const;
    [[nodiscard]] std::string textOf(std::size_t file, std::size_t begin, std::size_t end) const;

    /// Value tokens of an enumerator, counted from the one before it that has a value.
    struct Enumerator {
        std::size_t file = 0;
        std::size_t begin =
            0; ///< First token of the explicit value; equal to `end` when there is none.
        std::size_t end = 0;
        std::int64_t plus = 0;
    };
    [[nodiscard]] const Enumerator* enumerator(const std::string& name) const;

    /// A declaration, and the file that has it.
    struct FileDeclaration {
        std::size_t file = 0;
        const analysis::Declaration* declaration = nullptr;
    };
    /// The declarations of the variable at file scope, the first one in a file first. `Class::name`
    /// names a constant of a class.
    [[nodiscard]] std::vector<FileDeclaration> variablesNamed(const std::string& name) const;
    /// The declaration that names a type: a class with its members, or an alias.
    [[nodiscard]] std::optional<FileDeclaration> typeNamed(const std::string& name) const;
    /// Calls in functions that give memory to the variable, in order.
    [[nodiscard]] const std::vector<AllocationText>&
    allocationsOf(const std::string& pointer) const;

private:
    /// Returns the tokens that stand in `skipped`, the directives of conditionals aside: the file
    /// is read without them.
    std::vector<analysis::Token> addFile(std::string path, std::string text,
                                         std::span<const analysis::Span> skipped);
    void addFunctions(std::size_t file, const std::vector<analysis::Declaration>& declarations);
    void addEnumerators(std::size_t file, const analysis::Declaration& declaration);
    void addIndices(std::size_t file);
    void addType(std::size_t file, const analysis::Declaration& declaration);
    void addAllocation(std::size_t file, std::size_t token);

    std::deque<File> files_;
    analysis::MacroTable macros_;
    std::deque<FunctionText> functions_;
    std::map<std::string, std::vector<const FunctionText*>, std::less<>> byName_;
    std::map<std::string, Enumerator, std::less<>> enumerators_;
    std::vector<std::vector<const FunctionText*>> byPlace_; ///< Of each file, by their bodies.
    std::multimap<std::string, FileDeclaration> variables_;
    std::map<std::string, FileDeclaration> types_;
    std::map<std::string, std::vector<AllocationText>> allocations_;
};

/// The name that the tokens [begin, end) of a function's or template's parameter declare: `T` of
/// `typename T = int`, `op` of `float (*op)(float)`; empty for an unnamed parameter.
[[nodiscard]] std::string parameterName(const std::vector<analysis::Token>& tokens,
                                        std::size_t begin, std::size_t end);

/// The object behind `&x`, `(void**)&x`, `x + 4`, `raw_pointer_cast(x.data())`.
[[nodiscard]] std::string baseName(const analysis::Expression& expression);

} // namespace kernelskill::engine
