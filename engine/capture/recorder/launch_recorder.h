/// Decides which launches to record, and writes them to files.
#pragma once

#include "engine/capture/captured_launch.h"
#include "engine/capture/recorder/device_reader.h"
#include "engine/capture/recorder/launch_call.h"
#include "engine/capture/recording.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

namespace kernelskill::engine::capture {

/// A launch between its begin and its end, owned by the launching thread. While one launch is
/// recorded, no other may run, because it could change the memory that is read before and after.
struct OpenLaunch {
    std::shared_lock<std::shared_timed_mutex> beside; ///< Held if the launch is not recorded.
    std::unique_lock<std::shared_timed_mutex> alone;  ///< Held if the launch is recorded.
    CapturedLaunch launch;
    CUstream stream = nullptr;
};

/// Thread-safe. Throws nothing into the program. After its first own failure it reports that on
/// standard error and stops recording.
class LaunchRecorder {
public:
    LaunchRecorder(Recording recording, const DriverFunctions& driver);

    /// Called before the launch. Null if nothing is to be done after it.
    [[nodiscard]] std::unique_ptr<OpenLaunch> begin(const LaunchCall& call) noexcept;
    /// Called after the launch; `status` is the driver's result.
    void end(std::unique_ptr<OpenLaunch> open, CUresult status) noexcept;

private:
    /// Whether the launch is recorded.
    [[nodiscard]] bool open(OpenLaunch& open, const LaunchCall& call);
    [[nodiscard]] bool isWanted(const LaunchCall& call);
    [[nodiscard]] bool isCaptured(CUstream stream) const;
    [[nodiscard]] std::uint32_t nextOrdinal(const std::string& symbol);
    void giveBack(const CapturedLaunch& launch);
    [[nodiscard]] bool claim(const CapturedLaunch& launch) const;
    void readParameters(CapturedLaunch& launch, const LaunchCall& call) const;
    void readBefore(CapturedLaunch& launch, const DeviceReader& reader, bool isReady);
    /// Saves the data and returns its name; empty, with the reason in `missing`, if it is not
    /// saved.
    [[nodiscard]] std::string keep(const DeviceReader& reader, const DeviceRange& range,
                                   std::string& missing);
    [[nodiscard]] std::string keep(const std::vector<std::byte>& bytes, std::string& missing);
    void write(const std::string& path, const void* bytes, std::size_t count);
    [[nodiscard]] std::string deviceName() const;
    void disable(const char* why) noexcept;

    const Recording recording_;
    const DriverFunctions& driver_;
    const int process_;
    std::atomic<bool> isOff_ = false;
    [[nodiscard]] std::chrono::milliseconds patience() const {
        return std::chrono::milliseconds(recording_.waitMilliseconds);
    }
    [[nodiscard]] std::string claimOf(const CapturedLaunch& launch) const;

    std::shared_timed_mutex launching_;
    std::mutex mutex_; ///< Guards all members below.
    /// The recorded launches.
    std::map<std::string, std::set<std::uint32_t>, std::less<>> launches_;
    std::set<std::string> kept_; ///< Data on disk.
    std::uint64_t keptBytes_ = 0;
    std::uint64_t files_ = 0; ///< Gives unfinished files different names.
};

} // namespace kernelskill::engine::capture
