#include "engine/execution/gpu/runner/stall_samples.h"

#include "engine/execution/gpu/runner/synchronise.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

using Now = std::chrono::steady_clock;

// The maximum number of a kernel's instructions that are distinguished.
constexpr std::size_t maxPlaces = 16'384;
constexpr std::uint64_t enoughSamples = 10'000;
constexpr std::chrono::milliseconds maxSamplingTime{400};
constexpr std::uint32_t samplingPeriod = 11; // Every 2^11 cycles: about a microsecond.
constexpr std::size_t reasonTextBytes = CUPTI_STALL_REASON_STRING_SIZE;

struct FreeText {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): CUPTI took it from malloc
    void operator()(char* text) const { std::free(text); }
};
using OwnedText = std::unique_ptr<char, FreeText>;

using ReasonNames = std::map<std::uint32_t, std::string>;

Result<ReasonNames> reasonNames(const Cupti& cupti, CUcontext context) {
    std::size_t count = 0;
    CUpti_PCSamplingGetNumStallReasonsParams number{};
    number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
    number.ctx = context;
    number.numStallReasons = &count;
    if (auto counted =
            cupti.check("count stall reasons", cupti.cuptiPCSamplingGetNumStallReasons(&number));
        !counted)
        return std::unexpected(counted.error());
    std::vector<std::uint32_t> indices(count);
    std::vector<char> text(count * reasonTextBytes);
    std::vector<char*> names(count);
    for (std::size_t i = 0; i < count; ++i)
        names[i] = text.data() + i * reasonTextBytes;
    CUpti_PCSamplingGetStallReasonsParams parameters{};
    parameters.size = CUpti_PCSamplingGetStallReasonsParamsSize;
    parameters.ctx = context;
    parameters.numStallReasons = count;
    parameters.stallReasonIndex = indices.data();
    parameters.stallReasons = names.data();
    if (auto named =
            cupti.check("name stall reasons", cupti.cuptiPCSamplingGetStallReasons(&parameters));
        !named)
        return std::unexpected(named.error());
    ReasonNames result;
    for (std::size_t i = 0; i < count; ++i)
        result.emplace(indices[i], names[i]);
    return result;
}

/// A buffer for samples in CUPTI's format.
class SampleBuffer {
public:
    explicit SampleBuffer(std::size_t reasons) : places_(maxPlaces), reasons_(maxPlaces * reasons) {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            places_[i].size = sizeof(CUpti_PCSamplingPCData);
            places_[i].stallReason = reasons_.data() + i * reasons;
        }
        data_.size = sizeof(CUpti_PCSamplingData);
        data_.collectNumPcs = places_.size();
        data_.pPcData = places_.data();
    }
    [[nodiscard]] CUpti_PCSamplingData& data() { return data_; }

private:
    std::vector<CUpti_PCSamplingPCData> places_;
    std::vector<CUpti_PCSamplingStallReason> reasons_;
    CUpti_PCSamplingData data_{};
};

/// Sampling, enabled on a context for as long as this object lives.
class Sampler {
public:
    static Result<std::unique_ptr<Sampler>> enable(const Cupti& cupti, CUcontext context) {
        CUpti_PCSamplingEnableParams parameters{};
        parameters.size = CUpti_PCSamplingEnableParamsSize;
        parameters.ctx = context;
        if (auto enabled = cupti.check("enable sampling", Cupti::whenFree([&] {
                                           return cupti.cuptiPCSamplingEnable(&parameters);
                                       }));
            !enabled)
            return std::unexpected(enabled.error());
        return std::unique_ptr<Sampler>(new Sampler(cupti, context));
    }

    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;
    ~Sampler() {
        CUpti_PCSamplingDisableParams parameters{};
        parameters.size = CUpti_PCSamplingDisableParamsSize;
        parameters.ctx = context_;
        cupti_.cuptiPCSamplingDisable(&parameters);
    }

    /// Call it before the first start. The buffer outlives the sampler.
    Result<void> configure(SampleBuffer& buffer) {
        std::vector<CUpti_PCSamplingConfigurationInfo> attributes(5);
        attributes[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
        attributes[0].attributeData.samplingPeriodData.samplingPeriod = samplingPeriod;
        attributes[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
        attributes[1].attributeData.collectionModeData.collectionMode =
            CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
        attributes[2].attributeType =
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
        attributes[2].attributeData.enableStartStopControlData.enableStartStopControl = 1;
        attributes[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT;
        attributes[3].attributeData.outputDataFormatData.outputDataFormat =
            CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
        attributes[4].attributeType =
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
        attributes[4].attributeData.samplingDataBufferData.samplingDataBuffer = &buffer.data();
        CUpti_PCSamplingConfigurationInfoParams parameters{};
        parameters.size = CUpti_PCSamplingConfigurationInfoParamsSize;
        parameters.ctx = context_;
        parameters.numAttributes = attributes.size();
        parameters.pPCSamplingConfigurationInfo = attributes.data();
        return cupti_.check("configure sampling",
                            cupti_.cuptiPCSamplingSetConfigurationAttribute(&parameters));
    }

    Result<void> start() {
        CUpti_PCSamplingStartParams parameters{};
        parameters.size = CUpti_PCSamplingStartParamsSize;
        parameters.ctx = context_;
        return cupti_.check("start sampling", Cupti::whenFree([&] {
                                return cupti_.cuptiPCSamplingStart(&parameters);
                            }));
    }

    Result<void> stop() {
        CUpti_PCSamplingStopParams parameters{};
        parameters.size = CUpti_PCSamplingStopParamsSize;
        parameters.ctx = context_;
        return cupti_.check("stop sampling", cupti_.cuptiPCSamplingStop(&parameters));
    }

    Result<void> read(SampleBuffer& buffer) {
        CUpti_PCSamplingGetDataParams parameters{};
        parameters.size = CUpti_PCSamplingGetDataParamsSize;
        parameters.ctx = context_;
        parameters.pcSamplingData = &buffer.data();
        return cupti_.check("read the samples", cupti_.cuptiPCSamplingGetData(&parameters));
    }

private:
    Sampler(const Cupti& cupti, CUcontext context) : cupti_(cupti), context_(context) {}

    const Cupti& cupti_;
    CUcontext context_;
};

struct SourceLine {
    std::string file;
    std::uint32_t line = 0;
    auto operator<=>(const SourceLine&) const = default;
};

/// nullopt if the line tables do not contain the instruction.
std::optional<SourceLine> lineOf(const Cupti& cupti, const std::string& cubin, const char* function,
                                 std::uint64_t offset) {
    CUpti_GetSassToSourceCorrelationParams parameters{};
    parameters.size = CUpti_GetSassToSourceCorrelationParamsSize;
    parameters.cubin = cubin.data();
    parameters.cubinSize = cubin.size();
    parameters.functionName = function;
    parameters.pcOffset = offset;
    if (cupti.cuptiGetSassToSourceCorrelation(&parameters) != CUPTI_SUCCESS)
        return std::nullopt;
    const OwnedText file(parameters.fileName);
    const OwnedText folder(parameters.dirName);
    if (!file || parameters.lineNumber == 0)
        return std::nullopt;
    std::filesystem::path path(file.get());
    if (path.is_relative() && folder)
        path = std::filesystem::path(folder.get()) / path;
    return SourceLine{path.lexically_normal().string(), parameters.lineNumber - 1};
}

/// Adds the buffer's samples and empties it.
class Collector {
public:
    Collector(const Cupti& cupti, const std::string& cubin, const ReasonNames& reasons)
        : cupti_(cupti), cubin_(cubin), reasons_(reasons) {}

    void take(CUpti_PCSamplingData& data) {
        for (std::size_t i = 0; i < data.totalNumPcs; ++i) {
            CUpti_PCSamplingPCData& place = data.pPcData[i];
            // CUPTI's data about the function share this string, so it is never freed.
            const char* function = place.functionName;
            const auto line = function != nullptr ? lineOf(cupti_, cubin_, function, place.pcOffset)
                                                  : std::nullopt;
            for (std::size_t r = 0; r < place.stallReasonCount; ++r) {
                const auto& reason = place.stallReason[r];
                const auto name = reasons_.find(reason.pcSamplingStallReasonIndex);
                if (name == reasons_.end() || reason.samples == 0)
                    continue;
                total_ += reason.samples;
                if (line)
                    lines_[*line][name->second] += reason.samples;
                else
                    elsewhere_ += reason.samples;
            }
        }
        dropped_ += data.droppedSamples;
        data.totalNumPcs = 0;
        data.totalSamples = 0;
        data.droppedSamples = 0;
    }

    [[nodiscard]] std::uint64_t total() const { return total_; }

    StallSamples result() {
        StallSamples samples;
        samples.total = total_;
        samples.elsewhere = elsewhere_;
        samples.dropped = dropped_;
        for (auto& [line, counts] : lines_)
            samples.lines.push_back({line.file, line.line, std::move(counts)});
        return samples;
    }

private:
    const Cupti& cupti_;
    const std::string& cubin_;
    const ReasonNames& reasons_;
    std::map<SourceLine, std::map<std::string, std::uint64_t>> lines_;
    std::uint64_t total_ = 0;
    std::uint64_t elsewhere_ = 0;
    std::uint64_t dropped_ = 0;
};

} // namespace

Result<StallSamples> sampleStalls(const Cupti& cupti, Device& device, const Subject& subject,
                                  std::uint64_t seed, const PreparedLaunch& launch, bool& isFatal) {
    // CUPTI knows a context's stall reasons only after sampling was enabled there.
    auto sampler = Sampler::enable(cupti, device.context());
    if (!sampler)
        return std::unexpected(sampler.error());
    const auto reasons = reasonNames(cupti, device.context());
    if (!reasons)
        return std::unexpected(reasons.error());
    SampleBuffer buffer(reasons->size());
    SampleBuffer rest(reasons->size()); // The samples that CUPTI still holds when sampling ends.
    if (auto configured = (*sampler)->configure(rest); !configured)
        return std::unexpected(configured.error());
    device.forget(subject.cubin);
    const auto sampled = PreparedLaunch::prepare(device, subject, seed, &launch);
    if (!sampled)
        return std::unexpected(sampled.error());
    Collector collector(cupti, subject.cubin, *reasons);
    const auto end = Now::now() + maxSamplingTime;
    do {
        auto done = (*sampled)->restore();
        if (done)
            done = synchronise(device.driver(), isFatal);
        if (done)
            done = (*sampler)->start();
        if (done)
            done = (*sampled)->launch();
        if (done)
            done = synchronise(device.driver(), isFatal);
        if (done)
            done = (*sampler)->stop();
        if (done)
            done = (*sampler)->read(buffer);
        if (!done)
            return std::unexpected(done.error());
        collector.take(buffer.data());
    } while (collector.total() < enoughSamples && Now::now() < end);
    sampler->reset();
    collector.take(rest.data());
    return collector.result();
}

} // namespace kernelskill::engine::gpu
