#include "engine/graph/model/model_files.h"

#include "engine/graph/model/build_file.h"
#include "engine/graph/model/kernel_file.h"
#include "engine/graph/model/manifest.h"
#include "engine/graph/model/model_source.h"
#include "engine/graph/model/torch_source.h"

#include <spdlog/fmt/fmt.h>

#include <fstream>
#include <system_error>
#include <unistd.h>

namespace kernelskill::engine::graph {

namespace {

Error failure(const std::filesystem::path& path, const std::error_code& error) {
    return {ErrorKind::Failed, fmt::format("cannot write {}: {}", path.string(), error.message()),
            "", ""};
}

} // namespace

ModelFiles modelFiles(const ModelPlan& plan, const Program& graph) {
    ModelFiles files;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work))
            files[fmt::format("kernels/{}.cu", kernel->name)] = kernelFile(plan, graph, *kernel);
    files["kernels.h"] = launchersHeader(plan);
    files["model.h"] = modelHeader(plan);
    files["model.cpp"] = modelSource(plan);
    files["model_abi.h"] = abiHeader();
    files["model_abi.cpp"] = abiSource(plan);
    files["torch_operator.cpp"] = torchSource(plan, graph);
    files["CMakeLists.txt"] = buildFile(plan);
    files[std::string(manifestName)] = manifest(plan, graph);
    return files;
}

Result<void> writeModel(const ModelFiles& files, const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool exists = fs::exists(folder, error);
    if (exists && (!fs::is_directory(folder, error) ||
                   (!fs::is_empty(folder, error) && !fs::exists(folder / manifestName, error))))
        return std::unexpected(
            Error{ErrorKind::InvalidInput, fmt::format("{} holds other files", folder.string()),
                  "name a new or empty folder, or one that this command wrote", ""});
    const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    fs::create_directories(parent, error);
    // Beside the folder, so that it can be moved there at once.
    const fs::path draft = parent / fmt::format(".{}.{}", folder.filename().string(), ::getpid());
    const auto discard = [&](Error failed) {
        std::error_code ignored;
        fs::remove_all(draft, ignored);
        return std::unexpected(std::move(failed));
    };
    for (const auto& [path, text] : files) {
        const fs::path file = draft / path;
        fs::create_directories(file.parent_path(), error);
        if (error)
            return discard(failure(file, error));
        std::ofstream stream(file, std::ios::binary);
        stream << text;
        stream.close();
        if (!stream)
            return discard(failure(file, std::make_error_code(std::errc::io_error)));
    }
    fs::remove_all(folder, error);
    fs::rename(draft, folder, error);
    if (error)
        return discard(failure(folder, error));
    return {};
}

} // namespace kernelskill::engine::graph
