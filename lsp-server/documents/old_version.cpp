#include "lsp-server/documents/old_version.h"

#include "engine/comparison/program_difference.h"
#include "lsp-server/documents/closed_document.h"
#include "lsp-server/workspace/revision.h"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <vector>

namespace kernelskill::lsp {

namespace {

constexpr std::size_t shortCommit = 7;

/// The program without what was learned from its text.
engine::ProgramSource withText(const engine::ProgramSource& program, std::string text) {
    engine::ProgramSource old = program;
    old.model = nullptr;
    old.text = std::move(text);
    return old;
}

} // namespace

Result<OldVersion> versionInRevision(const Snapshot& snapshot, const std::string& revision,
                                     std::stop_token stop) {
    const engine::ProgramSource& program = snapshot.program;
    std::vector<std::filesystem::path> others;
    for (const std::string& file : snapshot.model().userFiles)
        if (file != program.file)
            others.emplace_back(file);
    auto found = textsInRevision(program.file, others, revision, std::move(stop));
    if (!found)
        return std::unexpected(std::move(found.error()));
    OldVersion old{withText(program, std::move(found->texts.at(program.file))),
                   fmt::format("{} ({})", revision, found->commit.substr(0, shortCommit)),
                   found->commit};
    found->texts.erase(program.file);
    for (auto& [file, text] : found->texts) {
        const auto now = engine::textOf(program, file.string());
        if (now && *now != text)
            old.program.unsaved[file.string()] = std::move(text);
    }
    return old;
}

Result<OldVersion> versionInFile(const Snapshot& snapshot, const std::filesystem::path& file) {
    auto text = readText(file);
    if (!text)
        return std::unexpected(std::move(text.error()));
    return OldVersion{withText(snapshot.program, std::move(*text)), file.string(), ""};
}

} // namespace kernelskill::lsp
