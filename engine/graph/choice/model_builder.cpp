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

Result<void> writeFile(const fs::path& file, const std::string& text) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    stream.close();
    if (stream)
        return {};
    return std::unexpected(
        Error{ErrorKind::Failed, "the model's files cannot be written", file.string(), ""});
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

std::size_t ModelBuilder::begin(const ModelFiles& files, Urgency urgency) {
    auto owned = std::make_unique<Build>();
    Build& build = *owned;
    std::unique_lock lock(mutex_);
    const std::size_t number = builds_.size();
    ContentHash hash;
    for (const auto& [path, text] : files) {
        hash.add(path);
        hash.add(text);
    }
    if (const auto [same, isNew] = numbers_.try_emplace(hash.hex(), number); !isNew) {
        if (urgency == Urgency::Next)
            for (Object* object : builds_[same->second]->objects)
                need(*builds_[same->second], *object, false, urgency);
        return same->second;
    }
    build.folder = folder_ / fmt::format("model{}", number);
    builds_.push_back(std::move(owned));
    for (const auto& [path, text] : files)
        if (auto written = writeFile(build.folder / path, text); !written) {
            build.result = std::unexpected(std::move(written.error()));
            return number;
        }
    for (const auto& [path, text] : files) {
        const bool isKernel = path.ends_with(".cu");
        if (!isKernel && path != "model.cpp" && path != "model_abi.cpp")
            continue;
        ContentHash content;
        content.add(text);
        Object*& known = known_[isKernel ? content.hex() : (build.folder / path).string()];
        const bool isNew = known == nullptr;
        if (isNew) {
            const fs::path file = build.folder / path;
            known = objects_
                        .emplace_back(std::make_unique<Object>(Object{
                            file, fs::path(file.string() + ".o"), build.folder, {}, std::nullopt}))
                        .get();
        }
        build.objects.push_back(known);
        need(build, *known, isNew, urgency);
    }
    if (build.left == 0 && !build.result)
        links_.push_back(&build);
    changed_.notify_all();
    return number;
}

void ModelBuilder::need(Build& build, Object& object, bool isNew, Urgency urgency) {
    if (object.compiled) {
        if (!*object.compiled && !build.result)
            build.result = std::unexpected(object.compiled->error());
        return;
    }
    if (std::ranges::find(object.waiting, &build) == object.waiting.end()) {
        object.waiting.push_back(&build);
        ++build.left;
    }
    if (urgency == Urgency::Usual) {
        if (isNew)
            usual_.push_back(&object);
        return;
    }
    if (std::erase(usual_, &object) > 0 || isNew)
        urgent_.push_back(&object);
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
        Build* build = nullptr;
        Object* object = nullptr;
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] {
                    return !links_.empty() || !urgent_.empty() || !usual_.empty();
                }))
                return;
            if (stop.stop_requested())
                return;
            if (!links_.empty()) {
                build = links_.front();
                links_.pop_front();
            } else {
                auto& queue = urgent_.empty() ? usual_ : urgent_;
                object = queue.front();
                queue.pop_front();
            }
        }
        if (build != nullptr)
            link(*build, stop);
        else
            compileObject(*object, stop);
    }
}

Result<void> ModelBuilder::compile(std::vector<std::string> arguments, const fs::path& includes,
                                   const std::stop_token& stop) const {
    ChildCommand command;
    command.program = nvcc_;
    // As the model's CMakeLists.txt has them.
    command.arguments = {"-O3",        "-DNDEBUG",       "-std=c++17", "-arch=" + architecture_,
                         "-Xcompiler", "-fPIC",          "-cudart",    "shared",
                         "-I",         includes.string()};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
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

void ModelBuilder::compileObject(Object& object, const std::stop_token& stop) {
    auto compiled = compile({"-c", object.source.string(), "-o", object.object.string()},
                            object.includes, stop);
    const std::unique_lock lock(mutex_);
    for (Build* build : object.waiting) {
        --build->left;
        if (build->result)
            continue;
        if (!compiled)
            build->result = std::unexpected(compiled.error());
        else if (build->left == 0)
            links_.push_back(build);
    }
    object.compiled = std::move(compiled);
    changed_.notify_all();
}

void ModelBuilder::link(Build& build, const std::stop_token& stop) {
    const fs::path library = build.folder / "libmodel.so";
    // Names are bound within the library: many models with the same names are loaded at once.
    std::vector<std::string> arguments = {"-shared", "-Xlinker", "-Bsymbolic"};
    for (const Object* object : build.objects)
        arguments.push_back(object->object.string());
    arguments.insert(arguments.end(), {"-o", library.string()});
    if (const auto linked = compile(std::move(arguments), build.folder, stop); !linked)
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
