#include "engine/unit/one_text.h"

#include "analysis/parse/translation_unit.h"
#include "analysis/scan/macros.h"
#include "analysis/source/files.h"
#include "analysis/source/try.h"
#include "engine/unit/user_files.h"
#include "skills/editing/added_include.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Indices of the files from the main one to `header`, each of which includes the next; empty if
/// there is no such way.
std::vector<std::size_t> wayTo(const std::filesystem::path& header,
                               const std::vector<UserFile>& files) {
    std::map<std::filesystem::path, std::size_t> byPath;
    for (std::size_t i = 0; i < files.size(); ++i)
        byPath.emplace(files[i].path, i);
    std::vector<std::optional<std::size_t>> from(files.size());
    std::deque<std::size_t> open{0};
    std::set<std::size_t> seen{0};
    while (!open.empty()) {
        const std::size_t file = open.front();
        open.pop_front();
        if (analysis::canonicalPath(files[file].path) == header) {
            std::vector<std::size_t> way{file};
            while (from[way.back()])
                way.push_back(*from[way.back()]);
            std::ranges::reverse(way);
            return way;
        }
        for (const IncludeLine& include : files[file].includes) {
            const auto found = byPath.find(include.resolved);
            if (found != byPath.end() && seen.insert(found->second).second) {
                from[found->second] = file;
                open.push_back(found->second);
            }
        }
    }
    return {};
}

/// Moves an insertion back to the begin of a line where that gives the same text. nullopt if the
/// edit does not insert whole lines.
std::optional<analysis::TextEdit> insertedLines(analysis::TextEdit edit, std::string_view text) {
    if (edit.span.begin != edit.span.end || edit.newText.empty())
        return std::nullopt;
    std::uint32_t at = edit.span.begin;
    while (at > 0 && text[at - 1] != '\n' && text[at - 1] == edit.newText.back()) {
        std::ranges::rotate(edit.newText, edit.newText.end() - 1);
        --at;
    }
    if ((at > 0 && text[at - 1] != '\n') || edit.newText.back() != '\n')
        return std::nullopt;
    return analysis::TextEdit{{at, at}, std::move(edit.newText)};
}

bool areIncludes(std::string_view lines) {
    const auto tokens = analysis::lex(lines);
    return !tokens.empty() && std::ranges::all_of(tokens, [](const analysis::Token& token) {
        return token.kind == analysis::TokenKind::Directive &&
               analysis::directiveParts(token.text).name == "include";
    });
}

std::size_t errorsIn(const analysis::FileModel& model) {
    return static_cast<std::size_t>(
        std::ranges::count_if(model.diagnostics, analysis::isCompileError));
}

} // namespace

/// Writes the files of a way into each other.
class OneText::Writer {
public:
    Writer(const std::vector<UserFile>& files, const std::vector<std::size_t>& way)
        : files_(files), way_(way) {}

    void write(std::size_t place, const std::string& name) {
        const UserFile& file = files_[way_[place]];
        if (place + 1 == way_.size())
            return add(name, withoutOnce(file, place), 0, file.text.size());
        const auto& next = files_[way_[place + 1]];
        const auto include = std::ranges::find(file.includes, next.path, &IncludeLine::resolved);
        const std::string text = withoutOnce(file, place);
        add(name, text, 0, include->span.begin);
        write(place + 1, next.path.string());
        if (!text_.ends_with('\n'))
            text_ += '\n';
        add(name, text, include->span.end, text.size());
    }

    std::string takeText() { return std::move(text_); }
    std::vector<Part> takeParts() { return std::move(parts_); }

private:
    /// The text with blanks for the #pragma once of a header, which would be the main file's.
    static std::string withoutOnce(const UserFile& file, std::size_t place) {
        std::string text = file.text;
        if (place == 0)
            return text;
        for (const analysis::Token& token : analysis::lex(file.text)) {
            if (token.kind != analysis::TokenKind::Directive)
                continue;
            const auto [name, remainder] = analysis::directiveParts(token.text);
            if (name == "pragma" && remainder == "once")
                std::fill(text.begin() + token.span.begin, text.begin() + token.span.end, ' ');
        }
        return text;
    }

    void add(const std::string& file, const std::string& text, std::size_t begin, std::size_t end) {
        parts_.push_back({file, static_cast<std::uint32_t>(text_.size()),
                          static_cast<std::uint32_t>(begin),
                          static_cast<std::uint32_t>(end - begin)});
        text_.append(text, begin, end - begin);
    }

    const std::vector<UserFile>& files_;
    const std::vector<std::size_t>& way_;
    std::string text_;
    std::vector<Part> parts_;
};

Result<OneText> OneText::make(const ProgramSource& program, const std::string& header,
                              const analysis::Toolchain& toolchain) {
    const auto failed = [&](std::string why) {
        return std::unexpected(
            Error{ErrorKind::Failed,
                  fmt::format("{} cannot be read as a part of {}: {}", header, program.file, why),
                  "", ""});
    };
    const std::vector<UserFile> files = collectUserFiles(program, toolchain.preludeInclude);
    const auto way =
        files.empty() ? std::vector<std::size_t>{} : wayTo(analysis::canonicalPath(header), files);
    if (way.size() < 2)
        return failed("no #include of it was found");
    Writer writer(files, way);
    writer.write(0, program.file);
    OneText result;
    result.program_ = program;
    result.program_.text = writer.takeText();
    result.program_.model = nullptr;
    result.program_.watched.clear();
    result.parts_ = writer.takeParts();
    result.kernelPart_ = way.size() - 1; // Each file before it has a part ahead of the next.
    // What the headers include stands beside them.
    auto& folders = result.program_.command.includeDirs;
    for (const std::size_t file : way) {
        const std::string folder = files[file].path.parent_path().string();
        if (std::ranges::find(folders, folder) == folders.end())
            folders.push_back(folder);
    }
    auto model = analysis::analyzeFile(program.file, result.program_.text, result.program_.command,
                                       toolchain, program.unsaved);
    if (!model)
        return std::unexpected(std::move(model.error()));
    if (errorsIn(*model) > errorsIn(*program.model))
        return failed("together they have errors that they do not have apart");
    result.program_.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    return result;
}

Result<OneText> OneText::ofIncluder(const ProgramSource& program,
                                    const analysis::Toolchain& toolchain) {
    ProgramSource whole = program;
    whole.file = program.command.includer;
    whole.command.includer.clear();
    whole.command.otherIncluders = nullptr;
    whole.unsaved[program.file] = program.text;
    const auto open = program.unsaved.find(whole.file);
    auto text = open == program.unsaved.end() ? analysis::readFile(whole.file)
                                              : std::optional(open->second);
    if (!text)
        return std::unexpected(Error{ErrorKind::InvalidInput, "a file cannot be read", whole.file,
                                     analysis::unreadableReason(whole.file)});
    whole.text = *std::move(text);
    KERNELSKILL_TRY(auto model, analysis::analyzeFile(whole.file, whole.text, whole.command,
                                                      toolchain, whole.unsaved));
    whole.model = std::make_shared<const analysis::FileModel>(std::move(model));
    return make(whole, program.file, toolchain);
}

std::optional<analysis::TextEdit> OneText::asIncludeOfHeader(const analysis::TextEdit& edit) const {
    auto lines = insertedLines(edit, program_.text);
    if (!lines || !areIncludes(lines->newText))
        return std::nullopt;
    const Part& part = parts_[kernelPart_];
    const auto header = std::string_view(program_.text).substr(part.begin, part.length);
    const std::uint32_t at = skills::includePlace(header, analysis::lex(header));
    return analysis::TextEdit{{at, at}, std::move(lines->newText)};
}

Result<analysis::EditSet> OneText::inFiles(const analysis::EditSet& edits) const {
    analysis::EditSet result;
    for (const auto& [file, changes] : edits) {
        if (file != program_.file) {
            result[file] = changes;
            continue;
        }
        for (const analysis::TextEdit& edit : changes) {
            if (auto include = asIncludeOfHeader(edit)) {
                result[parts_[kernelPart_].file].push_back(*std::move(include));
                continue;
            }
            const auto part = std::ranges::find_if(parts_, [&](const Part& each) {
                return edit.span.begin >= each.begin && edit.span.end <= each.begin + each.length;
            });
            if (part == parts_.end())
                return std::unexpected(Error{ErrorKind::Failed,
                                             "the edit changes an #include that holds the kernel",
                                             program_.file, ""});
            const std::uint32_t shift = part->begin - part->inFile;
            result[part->file].push_back(
                {{edit.span.begin - shift, edit.span.end - shift}, edit.newText});
        }
    }
    return result;
}

} // namespace kernelskill::engine
