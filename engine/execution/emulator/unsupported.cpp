#include "engine/execution/emulator/unsupported.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::engine {

using analysis::DeclarationKind;
using analysis::Token;

namespace {

struct Feature {
    std::string_view prefix; ///< The prefix of an identifier.
    bool whole;              ///< The identifier equals the prefix.
    std::string_view name;
};

constexpr std::array features = {
    Feature{"wgmma", false, "warpgroup matrix instructions (wgmma)"},
    Feature{"nvcuda", true, "tensor-core fragments (nvcuda::wmma)"},
    Feature{"wmma", true, "tensor-core fragments (nvcuda::wmma)"},
    Feature{"CUtensorMap", true, "bulk tensor copies (TMA)"},
    Feature{"cp_async_bulk", false, "bulk tensor copies (TMA)"},
    Feature{"tex1D", false, "textures"},
    Feature{"tex2D", false, "textures"},
    Feature{"tex3D", false, "textures"},
    Feature{"texCubemap", false, "textures"},
    Feature{"texture", true, "textures"},
    Feature{"cudaTextureObject_t", true, "textures"},
    Feature{"surf1D", false, "surfaces"},
    Feature{"surf2D", false, "surfaces"},
    Feature{"surf3D", false, "surfaces"},
    Feature{"surface", true, "surfaces"},
    Feature{"cudaSurfaceObject_t", true, "surfaces"},
    Feature{"cudaGraph", false, "CUDA graphs in device code"},
    Feature{"cudaStreamCreate", false, "dynamic parallelism"},
    Feature{"cudaDeviceSynchronize", true, "dynamic parallelism"},
    Feature{"cub", true, "the cub library in device code"},
    Feature{"thrust", true, "the thrust library in device code"},
    Feature{"cute", true, "the CUTLASS library"},
    Feature{"cutlass", true, "the CUTLASS library"},
    Feature{"cuda", true, "the cuda:: C++ library"},
    Feature{"nvshmem", false, "NVSHMEM"},
    Feature{"curand", false, "the cuRAND device library"},
    Feature{"asm", true, "inline PTX"},
};

const Feature* featureOf(const Token& token) {
    if (!token.isIdentifier())
        return nullptr;
    const auto found = std::ranges::find_if(features, [&](const Feature& feature) {
        return feature.whole ? token.text == feature.prefix
                             : token.text.starts_with(feature.prefix);
    });
    return found == features.end() ? nullptr : &*found;
}

Error refusal(std::string_view feature, const std::string& file, std::uint32_t line) {
    return {ErrorKind::Unsupported, "the emulator does not run " + std::string(feature),
            file + ":" + std::to_string(line), "profile this kernel on a GPU"};
}

std::uint32_t lineAt(const ScannedProgram::File& file, std::uint32_t offset) {
    const auto& text = file.source.text;
    return 1 + static_cast<std::uint32_t>(std::count(
                   text.begin(), text.begin() + std::min<std::ptrdiff_t>(offset, std::ssize(text)),
                   '\n'));
}

const ScannedProgram::File* fileOf(const std::string& path, const ScannedProgram& program) {
    const auto normal = std::filesystem::path(path).lexically_normal();
    const auto found = std::ranges::find_if(
        program.files(), [&](const auto& file) { return file.source.path == normal; });
    return found == program.files().end() ? nullptr : &*found;
}

} // namespace

std::uint32_t lineOf(const analysis::KernelModel& kernel, const ScannedProgram& program) {
    const auto* file = fileOf(kernel.file, program);
    return file == nullptr ? 1 : lineAt(*file, kernel.nameSpan.begin);
}

std::optional<Error> refusedParameter(const analysis::KernelModel& kernel,
                                      const ScannedProgram& program) {
    for (const auto& parameter : kernel.parameters) {
        const auto* file = fileOf(kernel.file, program);
        const auto line = file == nullptr ? 1 : lineAt(*file, parameter.span.begin);
        const auto& type = parameter.type.canonical;
        if (type.find("(*)") != std::string::npos)
            return refusal("pointers to functions as arguments ('" + parameter.name + "')",
                           kernel.file, line);
        for (const auto& token : analysis::lex(parameter.type.spelling)) {
            const auto* feature = featureOf(token);
            if (feature != nullptr && (feature->name == "textures" || feature->name == "surfaces" ||
                                       token.text == "CUtensorMap"))
                return refusal(std::string(feature->name) + " ('" + parameter.name + "')",
                               kernel.file, line);
        }
    }
    return std::nullopt;
}

std::optional<Error> refusedFeature(const analysis::KernelModel& kernel,
                                    const ScannedProgram& program, const LaunchSpec& launch,
                                    const std::optional<CompilerMessage>& error) {
    if (error) {
        if (const auto* file = fileOf(error->file, program)) {
            for (const auto& token : file->tokens) {
                if (const auto* feature = featureOf(token);
                    feature != nullptr && lineAt(*file, token.span.begin) == error->line)
                    return refusal(feature->name, error->file, error->line);
            }
        }
    }
    SliceRequest request{std::filesystem::path(kernel.file).lexically_normal().string(),
                         kernel.nameSpan.begin,
                         kernel.name,
                         {launch.templateArguments.begin(), launch.templateArguments.end()},
                         {},
                         SliceWidth::Needed};
    const auto slices = sliceProgram(program, request);
    for (std::size_t f = 0; f < slices.size(); ++f) {
        const auto& file = program.files()[f];
        for (const auto* declaration : slices[f].kept) {
            if (declaration->kind == DeclarationKind::UsingNamespace ||
                declaration->kind == DeclarationKind::NamespaceAlias)
                continue;
            for (const auto& token : file.tokens) {
                const auto* feature =
                    declaration->span.contains(token.span.begin) ? featureOf(token) : nullptr;
                if (feature != nullptr)
                    return refusal(feature->name, file.source.path.string(),
                                   lineAt(file, token.span.begin));
            }
        }
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
