#include "engine/static_facts/nvcc.h"

#include "analysis/source/files.h"
#include "engine/process/child_process.h"
#include "engine/storage/temporary_folder.h"

#include <fstream>
#include <string_view>
#include <system_error>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t maxNvccMemory = 8ULL << 30;
constexpr std::uint64_t maxNvccFile = 512ULL << 20;
constexpr std::chrono::seconds maxNvccTime{120};

Walls wallsFor(const NvccJob& job, const fs::path& folder) {
    Walls walls;
    walls.readable = systemFolders();
    for (const auto& folders : {installationOf(job.nvcc), withoutPrivate(job.includeDirs)})
        walls.readable.insert(walls.readable.end(), folders.begin(), folders.end());
    walls.writable = {folder};
    walls.memoryBytes = maxNvccMemory;
    walls.fileBytes = maxNvccFile;
    walls.cpuTime = maxNvccTime;
    return walls;
}

Error unusable(const std::string& what) {
    return {ErrorKind::Failed, "nvcc cannot be used: " + what, {}, {}};
}

std::string placed(std::string_view text, const std::string& mirror) {
    std::string result;
    for (auto at = text.find(headerMirror); at != std::string_view::npos;
         at = text.find(headerMirror)) {
        result.append(text.substr(0, at)).append(mirror);
        text.remove_prefix(at + headerMirror.size());
    }
    return result.append(text);
}

bool write(const fs::path& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    std::ofstream stream(path, std::ios::binary);
    stream << text;
    stream.close();
    return !error && stream.good();
}

} // namespace

std::optional<fs::path> findNvcc(const analysis::CudaToolkit& toolkit) {
    std::error_code ignored;
    auto nvcc = toolkit.root / "bin" / "nvcc";
    return fs::is_regular_file(nvcc, ignored) ? std::optional(std::move(nvcc)) : std::nullopt;
}

Result<CompileReply> compileWithNvcc(const NvccJob& job, const DeviceUnit& unit,
                                     std::stop_token stop) {
    std::error_code error;
    const auto folder = TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-nvcc");
    if (!folder)
        return std::unexpected(unusable("no temporary folder"));
    const auto mirror = (folder->path() / "src").string();
    const auto file = folder->path() / "unit.cu";
    const auto cubin = folder->path() / "unit.cubin";
    bool written = write(file, placed(unit.source, mirror));
    for (const auto& header : unit.headers)
        written = written && write(placed(header.name, mirror), placed(header.text, mirror));
    if (!written)
        return std::unexpected(unusable("the temporary folder cannot be written to"));

    ChildCommand command;
    command.program = job.nvcc;
    command.walls = wallsFor(job, folder->path());
    command.temporaryFolder = folder->path();
    command.arguments = {"-arch=" + job.architecture};
    command.arguments.insert(command.arguments.end(), job.options.begin(), job.options.end());
    command.arguments.insert(
        command.arguments.end(),
        {"--keep", "--keep-dir", folder->path().string(), "-o", cubin.string(), file.string()});
    command.time = job.time;
    auto child = runChild(command, std::move(stop));
    if (!child)
        return std::unexpected(std::move(child.error()));
    CompileReply reply{versionText("nvcc", job.version),
                       child->status == 0,
                       child->output + child->messages,
                       {},
                       {},
                       {}};
    if (reply.succeeded) {
        auto bytes = analysis::readFile(cubin);
        if (!bytes)
            return std::unexpected(unusable("it left no cubin"));
        reply.cubin = std::move(*bytes);
        auto ptx = analysis::readFile(folder->path() / "unit.ptx");
        if (!ptx)
            return std::unexpected(unusable("it left no PTX"));
        reply.ptx = std::move(*ptx);
    }
    return reply;
}

} // namespace kernelskill::engine
