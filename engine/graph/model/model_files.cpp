#include "engine/graph/model/model_files.h"

#include "engine/graph/model/abi_source.h"
#include "engine/graph/model/build_file.h"
#include "engine/graph/model/kernel_file.h"
#include "engine/graph/model/manifest.h"
#include "engine/graph/model/model_source.h"
#include "engine/graph/model/recorded_source.h"
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

ModelFiles modelFiles(const ModelPlan& plan) {
    ModelFiles files;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work))
            files[fmt::format("kernels/{}.cu", kernel->name)] = kernelFile(plan, *kernel);
    files["kernels.h"] = launchersHeader(plan);
    files["model.h"] = modelHeader(plan);
    files["model.cpp"] = modelSource(plan);
    files["recorded_model.h"] = recordedHeader(plan);
    files["recorded_model.cpp"] = recordedSource(plan);
    files["model_abi.h"] = abiHeader(plan);
    files["model_abi.cpp"] = abiSource(plan);
    files["torch_operator.cpp"] = torchSource(plan);
    files["CMakeLists.txt"] = buildFile(plan);
    files[std::string(manifestName)] = manifest(plan);
    return files;
}

Result<void> writeModel(const ModelFiles& files, const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    fs::path target = fs::absolute(folder).lexically_normal();
    if (!target.has_filename()) // "model/"
        target = target.parent_path();
    std::error_code error;
    const bool exists = fs::exists(target, error);
    if (exists && (!fs::is_directory(target, error) ||
                   (!fs::is_empty(target, error) && !fs::exists(target / manifestName, error))))
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     fmt::format("{} holds other files", folder.string()), "",
                                     "name a new or empty folder, or one that this command wrote"});
    // Beside the folder, so that each is moved in one step.
    const auto beside = [&](std::string_view what) {
        return target.parent_path() /
               fmt::format(".{}.{}.{}", target.filename().string(), ::getpid(), what);
    };
    const fs::path draft = beside("new");
    const fs::path earlier = beside("old");
    const auto discard = [&](const Error& failed) {
        std::error_code ignored;
        fs::remove_all(draft, ignored);
        return std::unexpected(failed);
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
    if (exists)
        fs::rename(target, earlier, error);
    if (error)
        return discard(failure(target, error));
    fs::rename(draft, target, error);
    std::error_code ignored;
    if (error) {
        if (exists)
            fs::rename(earlier, target, ignored);
        return discard(failure(target, error));
    }
    fs::remove_all(earlier, ignored);
    return {};
}

} // namespace kernelskill::engine::graph
