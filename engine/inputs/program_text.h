/// The user's files as tokens, and the places of function definitions, calls and assignments in
/// them.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/scan/declarations.h"
#include "analysis/scan/macros.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

class ProgramText {
public:
    /// Reads the user files of `model` other than the main one from the disk.
    explicit ProgramText(const analysis::FileModel& model);
    ProgramText(const ProgramText&) = delete;
    ProgramText& operator=(const ProgramText&) = delete;

    struct File {
        std::string path;
        std::string text;
        std::vector<analysis::Token> tokens; ///< structuralTokens
        std::vector<analysis::Declaration> declarations;
    };
    [[nodiscard]] const std::deque<File>& files() const { return files_; }
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

private:
    void addFile(std::string path, std::string text);
    void addFunctions(std::size_t file, const std::vector<analysis::Declaration>& declarations);
    void addEnumerators(std::size_t file, const analysis::Declaration& declaration);

    std::deque<File> files_;
    analysis::MacroTable macros_;
    std::deque<FunctionText> functions_;
    std::map<std::string, std::vector<const FunctionText*>, std::less<>> byName_;
    std::map<std::string, Enumerator, std::less<>> enumerators_;
};

} // namespace kernelskill::engine
