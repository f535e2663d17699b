#include "lsp-server/commands/input_file.h"

#include "lsp-server/documents/closed_document.h"
#include "lsp-server/workspace/ownership.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace kernelskill::lsp {

namespace {

std::string kernelNames(const Snapshot& snapshot) {
    std::string names;
    for (const analysis::KernelModel& kernel : snapshot.model().kernels)
        names += (names.empty() ? "" : ", ") + kernel.qualifiedName;
    return names;
}

bool isAtLine(const Snapshot& snapshot, const analysis::KernelModel& kernel, std::uint32_t line) {
    const analysis::SourceText& source = snapshot.source();
    const auto holds = [&](analysis::Span span) {
        return source.lineColumn(span.begin).line <= line &&
               line <= source.lineColumn(span.end).line;
    };
    if (snapshot.isInMainFile(kernel) && holds(kernel.span))
        return true;
    return std::ranges::any_of(kernel.launches, [&](const analysis::LaunchSite& site) {
        return snapshot.model().hostFunctions.at(site.host).file == snapshot.model().file &&
               holds(site.span);
    });
}

} // namespace

Result<FilePlace> parseFilePlace(const std::string& argument) {
    const auto colon = argument.rfind(':');
    std::error_code ignored;
    if (colon == std::string::npos || std::filesystem::exists(argument, ignored))
        return FilePlace{argument, std::nullopt};
    const std::string written = argument.substr(colon + 1);
    if (written.find('/') != std::string::npos)
        return FilePlace{argument, std::nullopt};
    std::uint32_t line = 0;
    const char* end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, line);
    if (error != std::errc{} || stop != end || line == 0)
        return std::unexpected(Error{ErrorKind::InvalidInput, fmt::format("bad line '{}'", written),
                                     argument, "write FILE:LINE; lines count from 1"});
    return FilePlace{argument.substr(0, colon), line - 1};
}

Result<SnapshotPtr> openInput(const std::string& file, const Options& options,
                              const WorkbenchSink& onWorkbench) {
    std::error_code error;
    const auto path = std::filesystem::absolute(file, error).lexically_normal();
    const auto root = workspaceRootOf(path);
    auto workbench = makeWorkbench(options, skillFoldersOfCommand(root));
    if (!workbench)
        return std::unexpected(workbench.error());
    if (onWorkbench)
        onWorkbench(*workbench);
    return openInputWith(std::move(*workbench), path, root, options);
}

Result<SnapshotPtr> openInputWith(std::shared_ptr<const engine::Workbench> workbench,
                                  const std::filesystem::path& file,
                                  const std::filesystem::path& root, const Options& options) {
    const analysis::CompileCommands commands(options.fallbackFlags, options.compilationDatabase,
                                             isOwn);
    auto snapshot = readDocument(file, root, std::move(workbench), commands);
    std::error_code error;
    if (const auto skills = workspaceSkillFolder(root);
        std::filesystem::exists(skills, error) && !(isOwn(skills) && isOwn(root)))
        fmt::print(stderr, "note: {} belongs to another user, so its skills are not used\n",
                   skills.string());
    if (snapshot) {
        for (const std::string& note : (*snapshot)->program.command.notes)
            fmt::print(stderr, "note: {}\n", note);
    }
    return snapshot;
}

CapturedKernels::Reader readerOfProgram(std::shared_ptr<const engine::Workbench> workbench,
                                        std::filesystem::path root, Options options) {
    options.fallbackFlags.clear();
    return [workbench = std::move(workbench), root = std::move(root),
            options = std::move(options)](const std::filesystem::path& file) {
        return openInputWith(workbench, file, root, options);
    };
}

Result<const analysis::KernelModel*> chooseKernel(const Snapshot& snapshot, const std::string& name,
                                                  std::optional<std::uint32_t> line) {
    const auto& kernels = snapshot.model().kernels;
    const std::string& file = snapshot.model().file;
    if (kernels.empty())
        return std::unexpected(Error{ErrorKind::Failed, "the file has no kernel", file, ""});
    if (!name.empty()) {
        if (const auto* kernel = findKernel(snapshot, name))
            return kernel;
        return std::unexpected(Error{ErrorKind::InvalidInput, fmt::format("no kernel '{}'", name),
                                     file, "the kernels are: " + kernelNames(snapshot)});
    }
    if (!line)
        return &kernels.front();
    // The line after as well: a cursor on `template <...>` or a blank line above is meant for what
    // follows.
    for (const std::uint32_t candidate : {*line, *line + 1}) {
        const auto found = std::ranges::find_if(
            kernels, [&](const auto& kernel) { return isAtLine(snapshot, kernel, candidate); });
        if (found != kernels.end())
            return &*found;
    }
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 fmt::format("no kernel and no launch at line {}", *line + 1), file,
                                 "the kernels are: " + kernelNames(snapshot)});
}

} // namespace kernelskill::lsp
