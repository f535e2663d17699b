#include "engine/diagnosis/gpus.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace kernelskill::engine {
namespace {

Error wrong(const YAML::Mark& mark, std::string what) {
    return Error{ErrorKind::InvalidInput, std::move(what),
                 "gpus.yaml:" + std::to_string(mark.line + 1), ""};
}

/// Reads the figures of one GPU and the source of each.
class FigureReader {
public:
    /// `prefix` precedes the names under which sources are stored.
    FigureReader(const YAML::Node& gpu, const YAML::Node& sources, std::string prefix = {})
        : gpu_(gpu), sources_(sources), prefix_(std::move(prefix)) {}

    template <typename Value>
    Value read(const char* name) {
        const YAML::Node figure = gpu_[name];
        if (!figure) {
            fail(gpu_.Mark(), std::string(name) + " is missing");
            return {};
        }
        const YAML::Node source = figure["source"];
        if (!source || !sources_[source.as<std::string>()])
            fail(figure.Mark(), std::string(name) + " has no source that is listed");
        else
            found[prefix_ + name] = sources_[source.as<std::string>()].template as<std::string>();
        return figure["value"].as<Value>();
    }

    double positive(const char* name) {
        const auto value = read<double>(name);
        if (!error && !(value > 0))
            fail(gpu_[name].Mark(), std::string(name) + " is not positive");
        return value;
    }

    void fail(const YAML::Mark& mark, std::string what) {
        if (!error)
            error = wrong(mark, std::move(what));
    }

    std::map<std::string, std::string> found;
    std::optional<Error> error;

private:
    const YAML::Node& gpu_;
    const YAML::Node& sources_;
    std::string prefix_;
};

Result<Gpu> gpuOf(const YAML::Node& node, const YAML::Node& sources) {
    FigureReader figures(node, sources);
    Gpu gpu;
    gpu.name = node["name"].as<std::string>();
    gpu.product = node["product"].as<std::string>();
    const auto capability =
        analysis::computeCapabilityOf(figures.read<std::string>("compute_capability"));
    if (!capability || !analysis::limitsOf(*capability))
        figures.fail(node.Mark(), "the compute capability is not known");
    gpu.capability = capability.value_or(analysis::ComputeCapability{});
    gpu.multiprocessors = figures.read<std::uint32_t>("multiprocessors");
    gpu.boostHertz = figures.positive("boost_hertz");
    gpu.singleFlops = figures.positive("fp32_flops");
    gpu.doubleFlops = figures.positive("fp64_flops");
    gpu.tensorFlops = figures.positive("tensor_flops");
    gpu.memoryBytesPerSecond = figures.positive("memory_bytes_per_second");
    gpu.cacheBytes = figures.positive("l2_bytes");
    if (const YAML::Node measured = node["measured"]) {
        FigureReader ceilings(measured, sources, "measured.");
        gpu.measured = KnownCeilings{ceilings.positive("copy_bytes_per_second"),
                                     ceilings.positive("fp32_flops")};
        figures.found.merge(ceilings.found);
        if (!figures.error)
            figures.error = std::move(ceilings.error);
    }
    if (figures.error)
        return std::unexpected(std::move(*figures.error));
    gpu.sources = std::move(figures.found);
    return gpu;
}

/// Letters and digits in lower case, without the maker's name and the product line.
std::string plain(std::string_view name) {
    std::string result;
    std::string word;
    const auto endWord = [&] {
        static constexpr auto left =
            std::to_array<std::string_view>({"nvidia", "tesla", "geforce"});
        if (std::ranges::find(left, word) == left.end())
            result += word;
        word.clear();
    };
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else
            endWord();
    }
    endWord();
    return result;
}

} // namespace

Result<std::vector<Gpu>> parseGpuTable(std::string_view yaml) {
    try {
        const YAML::Node root = YAML::Load(std::string(yaml));
        const YAML::Node sources = root["sources"];
        std::vector<Gpu> gpus;
        for (const YAML::Node& node : root["gpus"]) {
            auto gpu = gpuOf(node, sources);
            if (!gpu)
                return std::unexpected(gpu.error());
            gpus.push_back(std::move(*gpu));
        }
        return gpus;
    } catch (const YAML::Exception& error) {
        return std::unexpected(wrong(error.mark, error.msg));
    }
}

const Result<std::vector<Gpu>>& builtinGpus() {
    static const Result<std::vector<Gpu>> gpus = parseGpuTable(builtinGpuText());
    return gpus;
}

std::string withArticle(const Gpu& gpu) {
    // Choose the article by the sound of the first letter: "aitch", "ell", "ar".
    static constexpr std::string_view vowelSounds = "AEFHILMNORSX";
    const bool startsWithVowel =
        !gpu.name.empty() && vowelSounds.find(gpu.name.front()) != std::string_view::npos;
    return (startsWithVowel ? "an " : "a ") + gpu.name;
}

Balance singleBalance(const Gpu& gpu) {
    if (gpu.measured)
        return {gpu.measured->singleFlops / gpu.measured->copyBytesPerSecond, true};
    return {gpu.singleFlops / gpu.memoryBytesPerSecond, false};
}

Balance doubleBalance(const Gpu& gpu) {
    return {gpu.doubleFlops / gpu.memoryBytesPerSecond, false};
}

const Gpu* gpuNamed(const std::vector<Gpu>& gpus, std::string_view name) {
    const auto wanted = plain(name);
    if (wanted.empty())
        return nullptr;
    for (const auto& gpu : gpus) {
        if (plain(gpu.name) == wanted || plain(gpu.product) == wanted)
            return &gpu;
    }
    // "A100" means either memory size; a driver appends the size, as in "A100-SXM4-80GB".
    for (const auto& gpu : gpus) {
        if (plain(gpu.name).starts_with(wanted) || plain(gpu.product).starts_with(wanted))
            return &gpu;
    }
    return nullptr;
}

} // namespace kernelskill::engine
