/// Profiles by what they depend on, so that an edit elsewhere in the file keeps them.
#pragma once

#include "engine/diagnosis/measured_roofline.h"
#include "engine/execution/kernel_ref.h"
#include "engine/execution/profile.h"
#include "engine/static_facts/static_facts.h"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Where a function of the program starts and ends, in lines.
struct FunctionPlace {
    std::string name;
    std::string file;
    std::uint32_t firstLine = 0;
    std::uint32_t lastLine = 0;
    bool operator==(const FunctionPlace&) const = default;
};

/// All that a profile of one kernel depends on, as a hash: the tokens of the file without the
/// functions that the kernel neither calls nor is launched by, its launch pins, the user's headers
/// and the compile command. Comments do not count, but where lines fall inside the kernel does,
/// because a profile speaks of lines.
struct ProfileKey {
    std::uint64_t hash = 0;
    /// The same without where lines fall: unchanged by what changes no run.
    std::uint64_t textHash = 0;
    std::vector<FunctionPlace> places; ///< Of the kernel and what it calls in the main file.
};
[[nodiscard]] ProfileKey profileKey(KernelRef kernel);

/// `profile` with its lines moved from functions at `from` to the same functions at `to`.
[[nodiscard]] Profile relocated(Profile profile, const std::vector<FunctionPlace>& from,
                                const std::vector<FunctionPlace>& to);

/// Where and when a profile was measured.
struct Measurement {
    std::string device; ///< UUID.
    std::string gpu;    ///< "NVIDIA H200"
    std::string time;   ///< ISO 8601, UTC.
    std::optional<DeviceCeilings> ceilings;
};

/// What was found out about a kernel by running and by compiling it.
struct KernelFindings {
    std::shared_ptr<const Profile> profile; ///< Null: it was compiled only, or nothing is known.
    std::shared_ptr<const Result<StaticFacts>> facts;    ///< Null: not asked for.
    std::shared_ptr<const Measurement> measurement = {}; ///< Null: of no GPU.
};

/// Keeps the latest findings. Thread-safe.
class ProfileCache {
public:
    /// Empty when nothing is known of `key`.
    [[nodiscard]] KernelFindings find(const ProfileKey& key);
    void insert(const ProfileKey& key, KernelFindings findings);

private:
    struct Entry {
        KernelFindings findings;
        std::vector<FunctionPlace> places; ///< That the profile's lines refer to.
    };
    std::mutex mutex_;
    std::map<std::uint64_t, Entry> entries_;
    std::list<std::uint64_t> order_; ///< Oldest first.
};

} // namespace kernelskill::engine
