#include "engine/graph/choice/remembered_verdicts.h"

#include "analysis/source/json.h"
#include "engine/graph/choice/model_code.h"
#include "engine/graph/type_text.h"
#include "engine/storage/content_hash.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace kernelskill::engine::graph {

namespace {

/// The version of the judge's rules and inputs: verdicts of another version are not looked at.
constexpr std::string_view verdictVersion = "mix 1";

/// Tensors up to this size are read whole. Pieces stand for a larger one, because reading gigabytes
/// takes seconds.
constexpr std::size_t wholeBytes = std::size_t{1} << 20;
constexpr std::size_t pieces = 64;
constexpr std::size_t pieceBytes = 4096;

std::string_view textAt(std::span<const std::byte> bytes, std::size_t begin, std::size_t count) {
    return {reinterpret_cast<const char*>(bytes.data()) + begin, count};
}

void addTensor(ContentHash& hash, const TensorData& tensor) {
    const std::span<const std::byte> bytes = tensor.bytes;
    hash.add(textOf(tensor.type));
    hash.add(std::to_string(bytes.size()));
    if (bytes.size() <= wholeBytes) {
        hash.add(textAt(bytes, 0, bytes.size()));
        return;
    }
    for (std::size_t i = 0; i < pieces; ++i)
        hash.add(textAt(bytes, (bytes.size() - pieceBytes) / (pieces - 1) * i, pieceBytes));
}

std::optional<MixVerdict> verdictFrom(const std::string& text) {
    try {
        return mixVerdictFrom(nlohmann::json::parse(text));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

} // namespace

std::string programKey(const Program& program) {
    ContentHash hash;
    hash.add(callsOf(program));
    for (const Input& input : program.inputs)
        hash.add(fmt::format("{} {} {}", input.value, input.target, static_cast<int>(input.kind)));
    for (const Output& output : program.outputs)
        hash.add("to " + output.value);
    for (const auto& [name, tensor] : program.tensors)
        if (tensor.owner != nullptr) {
            hash.add(name);
            addTensor(hash, tensor);
        }
    return hash.hex();
}

std::string RememberedVerdicts::keyOf(const VariantMix& mix) const {
    ContentHash hash;
    hash.add(verdictVersion);
    hash.add(subject_);
    for (const PlacedVariant& variant : mix) {
        hash.add(variant.part ? "part" : "whole");
        if (variant.part)
            for (const auto* names : {&variant.part->nodes, &variant.part->outputs})
                for (const std::string& name : *names)
                    hash.add(name);
        hash.add(codeOf(*variant.files));
    }
    return hash.hex();
}

std::vector<MixVerdict> RememberedVerdicts::of(const std::vector<VariantMix>& mixes) {
    std::vector<std::string> keys;
    std::vector<std::string> asked;
    std::vector<VariantMix> open;
    areRemembered_ = true;
    for (const VariantMix& mix : mixes) {
        const std::string& key = keys.emplace_back(keyOf(mix));
        if (judged_.contains(key)) {
            areRemembered_ = false;
            continue;
        }
        if (const auto text = memory_.find(key))
            if (auto verdict = verdictFrom(*text)) {
                known_[key] = *std::move(verdict);
                continue;
            }
        areRemembered_ = false;
        if (std::ranges::find(asked, key) == asked.end()) {
            asked.push_back(key);
            open.push_back(mix);
        }
    }
    if (!open.empty()) {
        const auto verdicts = racer_.judge(open, stop_);
        for (std::size_t i = 0; i < open.size(); ++i) {
            MixVerdict& verdict = judged_[asked[i]];
            if (verdicts && i < verdicts->size())
                verdict = (*verdicts)[i];
            else if (!verdicts)
                verdict.why = verdicts.error().kind == ErrorKind::Cancelled
                                  ? "the time was up"
                                  : verdicts.error().describe();
            if (verdict.outcome != MixVerdict::Outcome::NotCompared)
                memory_.keep(
                    asked[i],
                    toJson(verdict).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        }
    }
    std::vector<MixVerdict> all;
    for (const std::string& key : keys) {
        const auto judged = judged_.find(key);
        all.push_back(judged != judged_.end() ? judged->second : known_.at(key));
    }
    return all;
}

} // namespace kernelskill::engine::graph
