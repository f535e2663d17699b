/// Remembers of which kernels no run can check an edit, and why.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>

namespace kernelskill::engine {

/// Keyed by ProfileKey::textHash, which changes with everything that a run depends on. Keeps the
/// latest ones. Thread-safe.
class CheckObstacles {
public:
    void note(std::uint64_t textHash, Error why);
    /// A run has succeeded.
    void forget(std::uint64_t textHash);
    [[nodiscard]] std::optional<Error> find(std::uint64_t textHash) const;

private:
    static constexpr std::size_t maxKept = 512;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Error> obstacles_;
    std::list<std::uint64_t> order_; ///< Oldest first.
};

} // namespace kernelskill::engine
