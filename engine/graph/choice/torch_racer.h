/// Times variants of places with nvcc and LibTorch, on a GPU.
#pragma once

#include "engine/graph/choice/model_builder.h"
#include "engine/graph/choice/variant_racer.h"
#include "engine/graph/reference/torch_reference.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kernelskill::engine::graph {

struct TorchRaceOptions {
    std::filesystem::path archive; ///< Absolute: that of the program.
    std::string device = "cuda";
    bool allowsTf32 = false;                ///< Whether products of library nodes may use TF32.
    Tolerance tolerance = Tolerance::Loose; ///< The one that mixes are judged at.
    std::uint32_t rounds = 30;
    /// The share of what a judge allows that mixes may use: it may draw other inputs.
    double share = 0.8;
};

class TorchRacer : public VariantRacer {
public:
    /// `torch`, whose child loads all variants, and `builder` outlive it.
    TorchRacer(TorchRaceOptions options, TorchReference& torch, ModelBuilder& builder)
        : options_(std::move(options)), torch_(torch), builder_(builder) {}

    void build(std::size_t place, const std::optional<ProgramPart>& part,
               const std::vector<ModelFiles>& variants) override;
    [[nodiscard]] Result<std::vector<VariantTime>> race(std::size_t place,
                                                        const RaceStops& stops) override;
    [[nodiscard]] Result<std::vector<MixVerdict>> judge(const std::vector<VariantMix>& mixes,
                                                        std::stop_token stop) override;

private:
    struct Entry {
        std::optional<ProgramPart> part;
        std::vector<std::size_t> models; ///< Their numbers in the builder.
    };

    [[nodiscard]] TorchSubject subject() const;
    [[nodiscard]] TorchHeatRequest requestFor(const std::optional<ProgramPart>& part) const;

    TorchRaceOptions options_;
    TorchReference& torch_;
    ModelBuilder& builder_;
    std::map<std::size_t, Entry> places_;
    /// Starts the child and its use of the GPU, which takes seconds, while variants are compiled.
    std::jthread warmingUp_;
};

} // namespace kernelskill::engine::graph
