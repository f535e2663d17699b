/// LibTorch's answers: what a PyTorch program computes, and how long that takes node by node. It
/// is the judge of compiled programs. LibTorch runs in a child process, `kernelskill-torch`.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/process/framed_child.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace kernelskill::engine::graph {

/// Thread-safe; one request at a time. The child is started by the first request, and again by the
/// next one after it has died, was cancelled or was too late.
///
/// Errors of all requests: Missing, with a remedy, without the executable or a part of LibTorch;
/// InvalidInput, with the input's or the node's name, for what does not fit the program;
/// Unsupported for operators that are not run, all of them by name; Failed if an operator fails,
/// the child dies or the time passes; Cancelled on `stop`.
class TorchReference {
public:
    /// `executable`: kernelskill-torch; empty or absent where it was not built.
    explicit TorchReference(std::filesystem::path executable)
        : executable_(std::move(executable)) {}

    /// Whether the executable exists. Cheap: starts nothing.
    [[nodiscard]] bool isBuilt() const;

    [[nodiscard]] Result<TorchVersion> version(const TorchVersionRequest& request,
                                               std::stop_token stop = {});
    [[nodiscard]] Result<TorchRun> run(const TorchRunRequest& request, std::stop_token stop = {});
    [[nodiscard]] Result<TorchTiming> time(const TorchTimingRequest& request,
                                           std::stop_token stop = {});
    /// In a child of its own: a library can change everything in its process.
    [[nodiscard]] Result<Judgement> judge(const TorchJudgeRequest& request,
                                          std::stop_token stop = {});

    /// Runs in the child of this object. After a failure the next request gets a new child, since a
    /// model may have left the GPU unusable.
    [[nodiscard]] Result<TorchHeat> runHeat(const TorchHeatRequest& request,
                                            std::stop_token stop = {});

    /// Judges mixes in the child of this object, as runHeat() times models.
    [[nodiscard]] Result<TorchMixes> judgeMixes(const TorchMixRequest& request,
                                                std::stop_token stop = {});

    /// Returns a client with a child of its own.
    [[nodiscard]] TorchReference another() const { return TorchReference(executable_); }
    [[nodiscard]] const std::filesystem::path& executable() const { return executable_; }

private:
    /// Asks the child, and starts another one for the next request after a failure.
    template <typename Wanted>
    [[nodiscard]] Result<Wanted> askModels(const TorchRequest& request,
                                           const std::stop_token& stop);
    template <typename Wanted>
    [[nodiscard]] Result<Wanted> ask(const TorchRequest& request, const std::stop_token& stop);
    /// Starts a child if there is none.
    [[nodiscard]] Result<void> provide();

    std::filesystem::path executable_;
    std::timed_mutex mutex_; ///< Guards the child.
    std::unique_ptr<FramedChild> child_;
};

} // namespace kernelskill::engine::graph
