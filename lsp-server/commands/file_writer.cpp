#include "lsp-server/commands/file_writer.h"

#include "analysis/source/files.h"
#include "analysis/source/try.h"

#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <unistd.h>
#include <utility>

namespace kernelskill::lsp {

Result<void> replaceFile(const std::filesystem::path& path, std::string_view text) {
    std::error_code error;
    const auto target = std::filesystem::weakly_canonical(path, error); // A link stays one.
    const auto temporary =
        std::filesystem::path(fmt::format("{}.kernelskill-{}", target.string(), ::getpid()));
    {
        std::ofstream stream(temporary, std::ios::binary);
        stream << text;
        stream.flush();
        if (!stream) {
            std::filesystem::remove(temporary, error);
            return std::unexpected(
                Error{ErrorKind::Failed, "the file cannot be written", path.string(), ""});
        }
    }
    if (std::filesystem::exists(target, error))
        std::filesystem::permissions(temporary,
                                     std::filesystem::status(target, error).permissions(), error);
    std::filesystem::rename(temporary, target, error);
    if (error) {
        const std::string why = error.message();
        std::filesystem::remove(temporary, error);
        return std::unexpected(
            Error{ErrorKind::Failed, "the file cannot be replaced: " + why, path.string(), ""});
    }
    return {};
}

Result<void> replaceFiles(const std::map<std::filesystem::path, FileChange>& changes) {
    for (const auto& [file, change] : changes)
        if (analysis::readFile(file) != change.before)
            return std::unexpected(
                Error{ErrorKind::InvalidInput,
                      "the file changed while the command ran, so nothing was written",
                      file.string(), "run the command again"});
    for (const auto& [file, change] : changes)
        KERNELSKILL_CHECK(replaceFile(file, change.after));
    return {};
}

Result<void> writeEdits(const analysis::EditSet& edits, TextLookup& texts) {
    std::map<std::filesystem::path, FileChange> changes;
    for (const auto& [file, fileEdits] : edits) {
        const std::string before(texts(file).text());
        KERNELSKILL_TRY(auto after, analysis::applyEdits(before, fileEdits));
        changes[file] = {before, std::move(after)};
    }
    return replaceFiles(changes);
}

} // namespace kernelskill::lsp
