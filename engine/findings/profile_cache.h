/// A cache of profiles. Its keys change only with what a profile depends on, so that edits
/// elsewhere in a file keep the profile.
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

/// The first and last line of a function of the program.
struct FunctionPlace {
    std::string name;
    std::string file;
    std::uint32_t firstLine = 0;
    std::uint32_t lastLine = 0;
    bool operator==(const FunctionPlace&) const = default;
};

/// A hash of everything that the profile of one kernel depends on: the tokens of the file without
/// unrelated functions, the kernel's launch pins, the user's headers and the compile command. A
/// function is unrelated if the kernel neither calls it nor is launched by it. Comments do not
/// count, but the line breaks inside the kernel do, because a profile has line numbers.
struct ProfileKey {
    std::uint64_t hash = 0;
    /// The same without line breaks: changes only if a run can change.
    std::uint64_t textHash = 0;
    std::vector<FunctionPlace> places; ///< The kernel, and what it calls in the main file.
};
[[nodiscard]] ProfileKey profileKey(KernelRef kernel);

/// The keys of all kernels of one program, whose text is read once. Immutable, so threads may share
/// it; keeps references to the program's model.
class ProfileKeys {
public:
    /// Reads the sizes and times of the user's headers.
    explicit ProfileKeys(const ProgramSource& program);

    /// `kernel` is of the same program.
    [[nodiscard]] ProfileKey of(KernelRef kernel) const;

private:
    struct FunctionHash {
        std::uint64_t text = 0;  ///< Of its tokens.
        std::uint64_t lines = 0; ///< Of their lines, from the first on.
    };
    [[nodiscard]] static FunctionHash hashOf(const analysis::SourceText& source,
                                             analysis::Span span);
    [[nodiscard]] FunctionHash functionHash(const analysis::SourceText& source,
                                            analysis::Span span) const;
    /// The kernel and every device function that it reaches.
    [[nodiscard]] std::vector<const analysis::KernelModel*>
    reached(const analysis::KernelModel& kernel) const;

    std::uint64_t shared_ = 0;                         ///< Of what all kernels depend on.
    std::map<analysis::Span, FunctionHash> functions_; ///< Those of the main file.
    std::map<std::string, std::vector<const analysis::KernelModel*>> byName_;
};

/// Moves the lines of `profile` from functions at `from` to the same functions at `to`.
[[nodiscard]] Profile relocated(Profile profile, const std::vector<FunctionPlace>& from,
                                const std::vector<FunctionPlace>& to);

/// The place and time of a profile's measurement.
struct Measurement {
    std::string device; ///< A UUID.
    std::string gpu;    ///< "NVIDIA H200"
    std::string time;   ///< ISO 8601, UTC.
    std::optional<DeviceCeilings> ceilings;
};

/// The results of running and compiling a kernel.
struct KernelFindings {
    std::shared_ptr<const Profile> profile;              ///< Null if the kernel was not run.
    std::shared_ptr<const Result<StaticFacts>> facts;    ///< Null if not requested.
    std::shared_ptr<const Measurement> measurement = {}; ///< Null if not from a GPU.
    /// Why no run can check an edit of the kernel; nullopt if no run has failed so.
    std::optional<Error> obstacle = std::nullopt;
};

/// Keeps the latest findings. Thread-safe.
class ProfileCache {
public:
    /// Empty if nothing is known for `key`.
    [[nodiscard]] KernelFindings find(const ProfileKey& key);
    void insert(const ProfileKey& key, KernelFindings findings);

private:
    struct Entry {
        KernelFindings findings;
        std::vector<FunctionPlace> places; ///< The places that the profile's lines refer to.
    };
    std::mutex mutex_;
    std::map<std::uint64_t, Entry> entries_;
    std::list<std::uint64_t> order_; ///< Oldest first.
};

} // namespace kernelskill::engine
