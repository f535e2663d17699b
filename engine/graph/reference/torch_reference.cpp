#include "engine/graph/reference/torch_reference.h"

#include "engine/process/patient_lock.h"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

/// Loading LibTorch takes seconds where the disk is cold, and its first use of a GPU as long.
constexpr std::chrono::milliseconds grace{30'000};

/// How long a dying child may take to say why.
constexpr std::chrono::milliseconds farewell{200};

constexpr std::size_t maxSaidBytes = 400;

std::vector<std::string> neededVariables() {
    std::vector<std::string> variables;
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH", "OMP_NUM_THREADS",
          "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "TMPDIR"}) {
        if (const char* value = std::getenv(name); value != nullptr)
            variables.push_back(std::string(name) + "=" + value);
    }
    return variables;
}

/// The end of what a child wrote before it died, on one line.
std::string lastWords(const std::string& messages) {
    std::string words = messages.substr(messages.size() - std::min(messages.size(), maxSaidBytes));
    for (char& character : words)
        character = character == '\n' ? ' ' : character;
    while (words.ends_with(' '))
        words.pop_back();
    return words;
}

} // namespace

bool TorchReference::isBuilt() const {
    std::error_code ignored;
    return !executable_.empty() && std::filesystem::exists(executable_, ignored);
}

Result<void> TorchReference::provide() {
    if (child_ && child_->isAlive())
        return {};
    child_.reset();
    if (!isBuilt())
        return std::unexpected(Error{ErrorKind::Missing, "not built: LibTorch was not found",
                                     executable_.string(),
                                     "install libtorch-dev, or set CMAKE_PREFIX_PATH to "
                                     "torch.utils.cmake_prefix_path, and build again"});
    FramedChildCommand command;
    command.program = executable_;
    command.environment = neededVariables();
    command.calledInMessages = "LibTorch reference";
    command.keepsMessages = true;
    command.farewell = farewell;
    auto started = FramedChild::start(command);
    if (!started)
        return std::unexpected(started.error());
    child_ = std::move(*started);
    return {};
}

template <typename Wanted>
Result<Wanted> TorchReference::ask(const TorchRequest& request, const std::stop_token& stop) {
    const auto lock = lockUnlessStopped(mutex_, stop);
    if (!lock)
        return std::unexpected(lock.error());
    if (auto ready = provide(); !ready)
        return std::unexpected(ready.error());
    const auto payload = child_->exchange(encode(request), timeLimit(request) + grace, stop);
    if (!payload) {
        Error error = payload.error();
        if (error.kind == ErrorKind::Failed)
            error.where = lastWords(child_->messages());
        child_.reset();
        return std::unexpected(std::move(error));
    }
    auto answer = decodeTorchAnswer(*payload);
    if (!answer) {
        child_.reset();
        return std::unexpected(answer.error());
    }
    if (auto* failure = std::get_if<TorchFailure>(&*answer)) {
        if (failure->isFatal)
            child_.reset();
        return std::unexpected(std::move(failure->error));
    }
    if (auto* wanted = std::get_if<Wanted>(&*answer))
        return std::move(*wanted);
    child_.reset();
    return std::unexpected(
        Error{ErrorKind::Internal, "the LibTorch reference answered another question", {}, {}});
}

Result<TorchVersion> TorchReference::version(const TorchVersionRequest& request,
                                             std::stop_token stop) {
    return ask<TorchVersion>(request, stop);
}

Result<TorchRun> TorchReference::run(const TorchRunRequest& request, std::stop_token stop) {
    return ask<TorchRun>(request, stop);
}

Result<TorchTiming> TorchReference::time(const TorchTimingRequest& request, std::stop_token stop) {
    return ask<TorchTiming>(request, stop);
}

Result<Judgement> TorchReference::judge(const TorchJudgeRequest& request, std::stop_token stop) {
    TorchReference fresh(executable_);
    return fresh.ask<Judgement>(request, stop);
}

template <typename Wanted>
Result<Wanted> TorchReference::askModels(const TorchRequest& request, const std::stop_token& stop) {
    auto answer = ask<Wanted>(request, stop);
    if (!answer)
        if (const auto lock = lockUnlessStopped(mutex_, stop))
            child_.reset();
    return answer;
}

Result<TorchHeat> TorchReference::runHeat(const TorchHeatRequest& request, std::stop_token stop) {
    return askModels<TorchHeat>(request, stop);
}

Result<TorchMixes> TorchReference::judgeMixes(const TorchMixRequest& request,
                                              std::stop_token stop) {
    return askModels<TorchMixes>(request, stop);
}

} // namespace kernelskill::engine::graph
