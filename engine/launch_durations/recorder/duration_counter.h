/// Measures the program's launches with CUPTI's range profiler, which runs kernels one by one.
#pragma once

#include "engine/capture/recorder/driver_functions.h"
#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/gpu/runner/metric_host.h"
#include "engine/execution/gpu/runner/range_session.h"
#include "engine/launch_durations/launch_durations.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kernelskill::engine::launch_durations {

/// Thread-safe. Its calls of the driver are OwnCalls. Durations come without names, in the order of
/// the launches, so that all have to come from one thread.
class DurationCounter {
public:
    /// All arguments outlive the counter.
    DurationCounter(const DurationTarget& target, const capture::DriverFunctions& driver,
                    const gpu::Cupti& cupti)
        : target_(target), driver_(driver), cupti_(cupti) {}
    DurationCounter(const DurationCounter&) = delete;
    DurationCounter& operator=(const DurationCounter&) = delete;

    /// Creates the file. Failed if it cannot.
    [[nodiscard]] Result<void> create();
    /// Called before a launch. Returns whether it was the first one, for which CUPTI has loaded
    /// more libraries.
    [[nodiscard]] bool begin(const char* symbol, CUcontext context);
    /// Called before something that ends the measurement: a sentence says what, empty: the program.
    void end(const std::string& why);

private:
    /// CUPTI's objects for the context in which the first launch was made.
    struct Profiler {
        CUcontext context = nullptr;
        gpu::MetricHost host;
        std::vector<std::uint8_t> configuration;
        /// The current batch's session. A session takes one configuration only.
        std::optional<gpu::RangeSession> session = std::nullopt;
    };

    /// Measures one more launch, or says why not.
    [[nodiscard]] Result<void> add(const char* symbol, CUcontext context);
    [[nodiscard]] Result<void> open(CUcontext context);
    [[nodiscard]] Result<void> startBatch();
    /// Ends the batch and writes its durations.
    [[nodiscard]] Result<void> endBatch();
    void stop(const std::string& why);
    void write(const std::string& lines) const;

    const DurationTarget& target_;
    const capture::DriverFunctions& driver_;
    const gpu::Cupti& cupti_;
    std::mutex mutex_; ///< Guards all members below.
    int file_ = -1;
    std::unique_ptr<Profiler> profiler_;
    std::vector<std::string> batch_; ///< The symbols of launches that are not written yet.
    std::uint64_t launches_ = 0;
    std::thread::id thread_; ///< That makes the launches.
    bool isOver_ = false;
};

} // namespace kernelskill::engine::launch_durations
