#include "lsp-server/documents/reading.h"

#include "analysis/command/includer_search.h"
#include "analysis/source/diagnostic.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

namespace {

/// More includers than a user waits for are not tried.
constexpr std::size_t maxTried = 3;

struct Judged {
    Reading reading;
    std::ptrdiff_t errors = 0;
};

std::ptrdiff_t errorsOf(const analysis::TranslationUnit& unit) {
    return std::ranges::count_if(unit.diagnostics(), analysis::isCompileError);
}

Result<Judged> read(const ReadingRequest& request, analysis::CompileCommand command) {
    auto unit = analysis::TranslationUnit::parse(
        request.file, request.text, command, request.toolchain, request.unsaved, request.purpose);
    if (!unit)
        return std::unexpected(std::move(unit.error()));
    const std::ptrdiff_t errors = errorsOf(*unit);
    return Judged{{std::move(command), std::move(*unit)}, errors};
}

/// The commands of the includers that are tried, best first.
std::vector<analysis::CompileCommand> includerCommands(const ReadingRequest& request) {
    std::vector<analysis::CompileCommand> found;
    const std::filesystem::path folder =
        request.workspaceRoot.empty() ? request.file.parent_path() : request.workspaceRoot;
    const analysis::Includers includers = analysis::findIncluders(
        {request.file, request.text, folder,
         request.commands.listedSources(request.file, request.workspaceRoot), &request.unsaved});
    for (std::size_t i = 0; i < includers.sources.size() && found.size() < maxTried; ++i) {
        const std::filesystem::path& source = includers.sources[i];
        auto command = request.commands.commandFor(source, request.workspaceRoot);
        if (!command || !request.commands.mayRead(source))
            continue;
        command->includer = source.string();
        if (auto others = includers.others(i); !others.empty())
            command->otherIncluders =
                std::make_shared<const std::vector<analysis::OtherIncluder>>(std::move(others));
        found.push_back(std::move(*command));
    }
    return found;
}

/// Whether a source looks like a part of another one.
bool mayBeFragment(const std::string& text, const Judged& alone) {
    if (text.contains("main("))
        return false;
    return alone.errors > 0 || (text.contains("__global__") && !text.contains("<<<"));
}

} // namespace

Result<Reading> chooseReading(const ReadingRequest& request,
                              const analysis::CompileCommand& alone) {
    std::optional<Judged> best;
    if (!analysis::isHeaderName(request.file)) {
        auto own = read(request, alone);
        if (!own)
            return std::unexpected(std::move(own.error()));
        if (!mayBeFragment(request.text, *own))
            return std::move(own->reading);
        best = std::move(*own);
    }
    std::optional<Judged> through;
    for (analysis::CompileCommand& command : includerCommands(request)) {
        auto judged = read(request, std::move(command));
        // A file that is read twice has two meanings, and an edit would be judged in one of them.
        if (!judged || !judged->reading.unit.readsFileOnce() ||
            (through && through->errors <= judged->errors))
            continue;
        through = std::move(*judged);
        if (through->errors == 0)
            return std::move(through->reading);
    }
    if (!best) {
        auto own = read(request, alone);
        if (!own)
            return std::unexpected(std::move(own.error()));
        best = std::move(*own);
    }
    return std::move(through && through->errors <= best->errors ? through->reading : best->reading);
}

} // namespace kernelskill::lsp
