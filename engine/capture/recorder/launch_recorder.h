/// Decides which launches are recorded, and writes them down.
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

/// A launch between its two halves. Belongs to the thread that makes it. While one is recorded no
/// other is made: it would change what is read before and after.
struct OpenLaunch {
    std::shared_lock<std::shared_timed_mutex> beside; ///< Held where it is not recorded …
    std::unique_lock<std::shared_timed_mutex> alone;  ///< … and where it is.
    CapturedLaunch launch;
    CUstream stream = nullptr;
};

/// Thread-safe. Nothing is thrown to the program; after the first problem of its own it says so on
/// standard error and does nothing any more.
class LaunchRecorder {
public:
    LaunchRecorder(Recording recording, const DriverFunctions& driver);

    /// Before the launch; null when nothing is to be done after it.
    [[nodiscard]] std::unique_ptr<OpenLaunch> begin(const LaunchCall& call) noexcept;
    /// After it; `status` is what the driver answered.
    void end(std::unique_ptr<OpenLaunch> open, CUresult status) noexcept;

private:
    /// Whether the launch is recorded from here on.
    [[nodiscard]] bool open(OpenLaunch& open, const LaunchCall& call);
    [[nodiscard]] bool isWanted(const LaunchCall& call);
    [[nodiscard]] bool isCaptured(CUstream stream) const;
    [[nodiscard]] std::uint32_t nextOrdinal(const std::string& symbol);
    void giveBack(const CapturedLaunch& launch);
    [[nodiscard]] bool claim(const CapturedLaunch& launch) const;
    void readParameters(CapturedLaunch& launch, const LaunchCall& call) const;
    void readBefore(CapturedLaunch& launch, const DeviceReader& reader, bool isReady);
    /// The data's name; empty, with the reason in `missing`, when it is not kept.
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
    std::mutex mutex_;                                                     ///< For all below.
    std::map<std::string, std::set<std::uint32_t>, std::less<>> launches_; ///< Those taken.
    std::set<std::string> kept_;                                           ///< Data on disk.
    std::uint64_t keptBytes_ = 0;
    std::uint64_t files_ = 0; ///< Tells unfinished files apart.
};

} // namespace kernelskill::engine::capture
