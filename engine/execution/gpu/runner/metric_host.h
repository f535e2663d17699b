/// CUPTI's description of a chip: which counters form a metric.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/profile.h"

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {

/// Must be called once before a host or a session is made.
[[nodiscard]] Result<void> initialiseProfiler(const Cupti& cupti);

/// The pointers are valid as long as the texts.
[[nodiscard]] std::vector<const char*> pointersTo(const std::vector<std::string>& texts);

class MetricHost {
public:
    /// `cupti` outlives the host.
    [[nodiscard]] static Result<MetricHost> make(const Cupti& cupti, CUdevice device,
                                                 CUcontext context);
    MetricHost(MetricHost&& other) noexcept;
    MetricHost& operator=(MetricHost&&) = delete;
    ~MetricHost();

    /// Adds the metrics of `metrics` that the chip has, and returns them.
    [[nodiscard]] Result<std::vector<std::string>> add(const std::vector<std::string>& metrics);
    /// Returns the configuration with which a session counts the added metrics.
    [[nodiscard]] Result<std::vector<std::uint8_t>> configuration() const;
    /// The values of a range. Leaves out those that are no number, such as the ratio 0 / 0.
    [[nodiscard]] Result<Metrics> evaluate(const std::vector<std::uint8_t>& counters,
                                           const std::vector<std::string>& metrics,
                                           std::size_t range) const;

private:
    explicit MetricHost(const Cupti& cupti) : cupti_(cupti) {}

    [[nodiscard]] Result<void> open();
    void close();
    [[nodiscard]] Result<void> reopen();
    [[nodiscard]] CUptiResult addAll(const std::vector<std::string>& metrics) const;

    const Cupti& cupti_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

} // namespace kernelskill::engine::gpu
