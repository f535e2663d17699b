#include "lsp-server/commands/file_writer.h"

#include "analysis/source/files.h"

#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <map>
#include <unistd.h>

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

Result<void> writeEdits(const analysis::EditSet& edits, TextLookup& texts) {
    std::map<std::string, std::string> edited;
    for (const auto& [file, fileEdits] : edits) {
        if (analysis::readFile(file) != texts(file).text())
            return std::unexpected(Error{ErrorKind::InvalidInput,
                                         "the file changed while the edit was verified", file,
                                         "run the command again"});
        auto text = analysis::applyEdits(texts(file).text(), fileEdits);
        if (!text)
            return std::unexpected(text.error());
        edited.emplace(file, std::move(*text));
    }
    for (const auto& [file, text] : edited) {
        if (auto written = replaceFile(file, text); !written)
            return written;
    }
    return {};
}

} // namespace kernelskill::lsp
