#include "tests/gate/planted_file.h"

#include "analysis/source/files.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <expected>
#include <utility>

namespace kernelskill::testing {
namespace {

using Done = Result<void>;

/// One pair of `from` and `to`, as written.
struct Replacement {
    std::string from;
    std::string to;
    std::size_t line = 0; ///< Of the line `--- from`.
};

/// Takes `prefix` off `line`. False, and no change, if the line does not begin with it.
bool take(std::string_view& line, std::string_view prefix) {
    if (!line.starts_with(prefix))
        return false;
    line.remove_prefix(prefix.size());
    return true;
}

std::string withoutLastBreaks(std::string lines) {
    while (lines.ends_with('\n'))
        lines.pop_back();
    return lines;
}

class PlantedReader {
public:
    explicit PlantedReader(const std::string& file) : file_(file) {}

    Result<std::vector<PlantedProgram>> read(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            ++line_;
            if (const Done done = takeLine(text.substr(0, end)); !done)
                return std::unexpected(done.error());
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (const Done done = closeCase(); !done)
            return std::unexpected(done.error());
        return std::move(programs_);
    }

private:
    [[nodiscard]] std::unexpected<Error> trouble(std::string what, std::size_t line) const {
        return std::unexpected(Error{.kind = ErrorKind::InvalidInput,
                                     .what = std::move(what),
                                     .where = fmt::format("{}:{}", file_, line),
                                     .remedy = "tests/gate/planted_file.h describes the format"});
    }

    Done takeLine(std::string_view line) {
        const std::string_view whole = line;
        if (take(line, "=== ")) {
            if (const Done done = closeCase(); !done)
                return done;
            return take(line, "kernel ") ? openProgram(line) : openCase(line);
        }
        if (take(line, "--- "))
            return takeProperty(line);
        if (lines_ != nullptr)
            (*lines_ += whole) += '\n';
        else if (!whole.empty())
            return trouble("the line belongs to nothing", line_);
        return {};
    }

    Done openProgram(std::string_view name) {
        if (std::ranges::find(programs_, name, &PlantedProgram::name) != programs_.end())
            return trouble(fmt::format("there are two kernels '{}'", name), line_);
        programs_.push_back({.name = std::string(name), .text = {}, .cases = {}});
        lines_ = &programs_.back().text;
        return {};
    }

    Done openCase(std::string_view header) {
        if (programs_.empty())
            return trouble("an edit stands before the first kernel", line_);
        const std::size_t colon = header.find(": ");
        std::string_view mistake = header.substr(0, std::min(colon, header.size()));
        if (colon == std::string_view::npos)
            return trouble("the edit has no name", line_);
        PlantedCase opened;
        opened.name = header.substr(colon + 2);
        if (take(mistake, "wrong "))
            opened.kind = PlantedKind::Wrong;
        else if (take(mistake, "equal "))
            opened.kind = PlantedKind::Equal;
        else if (take(mistake, "right") && mistake.empty())
            opened.kind = PlantedKind::Right;
        else
            return trouble("the edit is neither wrong, equal nor right", line_);
        opened.mistake = mistake;
        auto& cases = programs_.back().cases;
        if (std::ranges::find(cases, opened.name, &PlantedCase::name) != cases.end())
            return trouble(fmt::format("the kernel has two edits '{}'", opened.name), line_);
        cases.push_back(std::move(opened));
        lines_ = nullptr;
        isOpen_ = true;
        caseLine_ = line_;
        return {};
    }

    Done takeProperty(std::string_view property) {
        if (!isOpen_)
            return trouble("the line belongs to no edit", line_);
        PlantedCase& open = programs_.back().cases.back();
        if (property == "from") {
            replacements_.push_back({.from = {}, .to = {}, .line = line_});
            lines_ = &replacements_.back().from;
        } else if (property == "to" && !replacements_.empty()) {
            lines_ = &replacements_.back().to;
        } else if (take(property, "kernel ")) {
            open.kernel = property;
        } else if (take(property, "because ")) {
            open.reason = property;
        } else if (property == "numerics reassociates") {
            open.accuracy = skills::Numerics::Reassociates;
        } else if (property == "numerics reduced precision") {
            open.accuracy = skills::Numerics::ReducedPrecision;
        } else {
            return trouble(fmt::format("'{}' says nothing of an edit", property), line_);
        }
        return {};
    }

    /// Turns the pairs of the open edit into edits of the program's text.
    Done closeCase() {
        if (!std::exchange(isOpen_, false))
            return {};
        PlantedProgram& program = programs_.back();
        PlantedCase& open = program.cases.back();
        if (replacements_.empty())
            return trouble("the edit replaces nothing", caseLine_);
        if (open.reason.empty() == (open.kind == PlantedKind::Equal))
            return trouble("an equal edit, and no other, has a reason", caseLine_);
        for (Replacement& replacement : replacements_) {
            const std::string from = withoutLastBreaks(std::move(replacement.from));
            const std::size_t at = program.text.find(from);
            if (from.empty() || at == std::string::npos)
                return trouble(fmt::format("the kernel has no '{}'", from), replacement.line);
            const auto begin = static_cast<std::uint32_t>(at);
            open.edits.push_back({{begin, begin + static_cast<std::uint32_t>(from.size())},
                                  withoutLastBreaks(std::move(replacement.to))});
        }
        replacements_.clear();
        if (const auto edited = analysis::applyEdits(program.text, open.edits); !edited)
            return trouble(edited.error().what, caseLine_);
        return {};
    }

    const std::string& file_;
    std::vector<PlantedProgram> programs_;
    std::vector<Replacement> replacements_; ///< Of the open edit.
    std::string* lines_ = nullptr;          ///< Gets the lines that divide nothing.
    bool isOpen_ = false;                   ///< Whether the last edit may get more lines.
    std::size_t line_ = 0;                  ///< One-based.
    std::size_t caseLine_ = 0;
};

} // namespace

Result<std::vector<PlantedProgram>> parsePlanted(std::string_view text, const std::string& file) {
    return PlantedReader(file).read(text);
}

Result<std::vector<PlantedProgram>> readPlanted(const std::filesystem::path& file) {
    const auto text = analysis::readFile(file);
    if (!text)
        return std::unexpected(Error{.kind = ErrorKind::InvalidInput,
                                     .what = "the file cannot be read",
                                     .where = file.string(),
                                     .remedy = "name a file of tests/gate/planted"});
    return parsePlanted(*text, file.string());
}

} // namespace kernelskill::testing
