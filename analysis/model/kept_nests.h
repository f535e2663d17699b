/// Keeps the nests of a file's kernels beside its model.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace kernelskill::analysis {

struct KernelModel;
struct Nest;

/// The nests that were asked for so far. A copy begins without any, for its kernels are others.
/// Thread-safe, but the file is no longer changed once a nest was asked for.
class KeptNests {
public:
    KeptNests() = default;
    KeptNests(const KeptNests& /*other*/) : KeptNests() {}
    KeptNests(KeptNests&&) noexcept = default;
    KeptNests& operator=(const KeptNests& other) {
        if (this != &other)
            *this = KeptNests();
        return *this;
    }
    KeptNests& operator=(KeptNests&&) noexcept = default;
    ~KeptNests() = default;

    /// The kernel's nest, which `make` makes when it is first asked for.
    [[nodiscard]] std::shared_ptr<const Nest>
    of(const KernelModel& kernel, const std::function<std::shared_ptr<const Nest>()>& make) const {
        const std::lock_guard lock(entries_->mutex);
        std::shared_ptr<const Nest>& nest = entries_->nests[&kernel];
        if (nest == nullptr)
            nest = make();
        return nest;
    }

private:
    struct Entries {
        std::mutex mutex;
        std::map<const KernelModel*, std::shared_ptr<const Nest>> nests;
    };
    std::unique_ptr<Entries> entries_ = std::make_unique<Entries>();
};

} // namespace kernelskill::analysis
