#include "engine/graph/choice/model_builder.h"

#include "engine/process/child_process.h"
#include "engine/process/own_environment.h"
#include "engine/storage/content_hash.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds longestCompile{120'000};

/// The first line that names an error, else the last one.
std::string firstError(const std::string& messages) {
    std::string last;
    for (std::size_t begin = 0; begin < messages.size();) {
        const std::size_t end = std::min(messages.find('\n', begin), messages.size());
        const std::string line = messages.substr(begin, end - begin);
        if (line.contains("error"))
            return line;
        if (!line.empty())
            last = line;
        begin = end + 1;
    }
    return last;
}

} // namespace

ModelBuilder::ModelBuilder(fs::path nvcc, std::string architecture, fs::path folder,
                           std::size_t jobs)
    : nvcc_(std::move(nvcc)), architecture_(std::move(architecture)), folder_(std::move(folder)) {
    for (std::size_t i = 0; i < std::max<std::size_t>(jobs, 1); ++i)
        workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

ModelBuilder::~ModelBuilder() {
    for (std::jthread& worker : workers_)
        worker.request_stop();
}

std::size_t ModelBuilder::begin(const ModelFiles& files) {
    auto owned = std::make_unique<Build>();
    Build& build = *owned;
    std::unique_lock lock(mutex_);
    const std::size_t number = builds_.size();
    ContentHash hash;
    for (const auto& [path, text] : files) {
        hash.add(path);
        hash.add(text);
    }
    if (const auto [same, isNew] = numbers_.try_emplace(hash.hex(), number); !isNew)
        return same->second;
    build.folder = folder_ / fmt::format("model{}", number);
    builds_.push_back(std::move(owned));
    std::vector<std::pair<fs::path, fs::path>> sources;
    for (const auto& [path, text] : files) {
        const fs::path file = build.folder / path;
        std::error_code error;
        fs::create_directories(file.parent_path(), error);
        std::ofstream stream(file, std::ios::binary);
        stream << text;
        stream.close();
        if (!stream) {
            build.result = std::unexpected(
                Error{ErrorKind::Failed, "the model's files cannot be written", file.string(), ""});
            return number;
        }
        if (path.ends_with(".cu") || path == "model.cpp" || path == "model_abi.cpp")
            sources.emplace_back(file, fs::path(file.string() + ".o"));
    }
    build.left = sources.size();
    for (auto& [source, object] : sources) {
        build.objects.push_back(object);
        jobs_.emplace_back([this, &build, source, object](const std::stop_token& stop) {
            compileFile(build, source, object, stop);
        });
    }
    changed_.notify_all();
    return number;
}

Result<fs::path> ModelBuilder::wait(std::size_t model, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    const Build& build = *builds_.at(model);
    if (!changed_.wait(lock, stop, [&] { return build.result.has_value(); }))
        return std::unexpected(Error{ErrorKind::Cancelled, "stopped while it compiled", "", ""});
    return *build.result;
}

void ModelBuilder::work(const std::stop_token& stop) {
    while (true) {
        std::function<void(const std::stop_token&)> job;
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); }))
                return;
            if (stop.stop_requested())
                return;
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        job(stop);
    }
}

/// As the model's CMakeLists.txt has them.
std::vector<std::string> ModelBuilder::flagsOf(const Build& build) const {
    return {"-O3",     "-DNDEBUG", "-std=c++17", "-arch=" + architecture_, "-Xcompiler", "-fPIC",
            "-cudart", "shared",   "-I",         build.folder.string()};
}

Result<void> ModelBuilder::compile(std::vector<std::string> arguments,
                                   const std::stop_token& stop) const {
    ChildCommand command;
    command.program = nvcc_;
    command.arguments = std::move(arguments);
    command.time = longestCompile;
    command.environment = ownEnvironmentWith({{"TMPDIR", folder_.string()}}, {});
    const auto outcome = runChild(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->status == 0)
        return {};
    return std::unexpected(Error{
        ErrorKind::Failed, "nvcc: " + firstError(outcome->messages + outcome->output), "", ""});
}

void ModelBuilder::compileFile(Build& build, const fs::path& source, const fs::path& object,
                               const std::stop_token& stop) {
    auto arguments = flagsOf(build);
    arguments.insert(arguments.end(), {"-c", source.string(), "-o", object.string()});
    const auto compiled = compile(std::move(arguments), stop);
    if (!compiled)
        return finish(build, std::unexpected(compiled.error()));
    {
        const std::unique_lock lock(mutex_);
        if (--build.left > 0)
            return;
    }
    const fs::path library = build.folder / "libmodel.so";
    arguments = flagsOf(build);
    // Names are bound within the library: many models with the same names are loaded at once.
    arguments.insert(arguments.end(), {"-shared", "-Xlinker", "-Bsymbolic"});
    for (const fs::path& each : build.objects)
        arguments.push_back(each.string());
    arguments.insert(arguments.end(), {"-o", library.string()});
    if (const auto linked = compile(std::move(arguments), stop); !linked)
        return finish(build, std::unexpected(linked.error()));
    finish(build, library);
}

void ModelBuilder::finish(Build& build, Result<fs::path> result) {
    const std::unique_lock lock(mutex_);
    if (!build.result)
        build.result = std::move(result);
    changed_.notify_all();
}

} // namespace kernelskill::engine::graph
