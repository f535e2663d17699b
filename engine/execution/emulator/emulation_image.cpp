#include "engine/execution/emulator/emulation_image.h"

#include "engine/execution/emulator/compile/assembly.h"
#include "engine/execution/emulator/compile/host_compiler.h"
#include "engine/execution/emulator/compile/image_cache.h"
#include "engine/execution/emulator/unit/emulation_unit.h"
#include "engine/execution/emulator/unit/local_accesses.h"
#include "engine/execution/emulator/unsupported.h"
#include "engine/storage/content_hash.h"

#include <algorithm>
#include <fstream>

namespace kernelskill::engine {
namespace {

/// The hash of what all units share: the compiler and the prelude.
ContentHash hashOfTools(const ImageOptions& options) {
    ContentHash hash;
    hash.add(options.hostCompiler.string());
    hash.add(std::string(assemblyEdition));
    std::error_code ignored;
    const auto compiler = std::filesystem::canonical(options.hostCompiler, ignored);
    hash.add(std::to_string(std::filesystem::file_size(compiler, ignored)));
    hash.add(std::to_string(
        std::filesystem::last_write_time(compiler, ignored).time_since_epoch().count()));
    std::vector<std::filesystem::path> headers;
    for (const auto& item :
         std::filesystem::recursive_directory_iterator(options.preludeInclude, ignored)) {
        if (item.is_regular_file(ignored))
            headers.push_back(item.path());
    }
    std::ranges::sort(headers);
    for (const auto& header : headers)
        hash.addFile(header);
    return hash;
}

/// Builds the image of one kernel.
class ImageBuilder {
public:
    ImageBuilder(KernelRef kernel, const LaunchSpec& launch, const ImageOptions& options,
                 std::stop_token stop)
        : kernel_(kernel), launch_(launch), options_(options), stop_(std::move(stop)),
          program_(collectUserFiles(kernel.program, options.preludeInclude),
                   kernel.program.command.definitions),
          cache_(options.cacheDirectory, options.cacheBytes), tools_(hashOfTools(options)) {}

    Result<EmulationImage> run() {
        if (program_.files().empty())
            return std::unexpected(Error{
                ErrorKind::InvalidInput, "the file cannot be read", kernel_.program.file, {}});
        if (auto refused = refusedParameter(kernel_.kernel, program_))
            return std::unexpected(std::move(*refused));
        std::string firstMessages;
        std::string lastError;
        UnitBreadth breadth;
        for (int attempt = 0; attempt < 5; ++attempt) {
            const auto unit =
                makeEmulationUnit(program_, kernel_, launch_, options_.preludeInclude, breadth);
            auto built = build(unit);
            if (built) {
                for (const auto& name : breadth.forced)
                    built->notes.push_back(
                        "'" + name + "' was taken into device code as the compiler asked for it");
                return built;
            }
            if (built.error().kind != ErrorKind::Failed || messages_.empty())
                return built;
            if (firstMessages.empty())
                firstMessages = messages_;
            const auto error = firstError(messages_);
            const auto summary = error ? error->file + error->text : messages_;
            const bool learnt = widen(breadth, attempt);
            if (!learnt && (summary == lastError || !maybeMissing(messages_)))
                break;
            lastError = summary;
        }
        return std::unexpected(explain(firstMessages));
    }

private:
    /// Sets what to try next after `messages_`. Returns whether that adds a declaration that was
    /// left out before, so that another attempt is useful.
    bool widen(UnitBreadth& breadth, int attempt) const {
        bool learnt = false;
        for (const auto& name : missingNames(messages_))
            learnt |= breadth.forced.insert(name).second && declares(name);
        const auto error = firstError(messages_);
        if (!breadth.kernelType && error && namesSeveral(*error)) {
            breadth.kernelType = true;
            learnt = true;
        } else if (error && error->file.ends_with("/unit.cpp") &&
                   (breadth.fieldTables || breadth.globalsTable)) {
            (breadth.fieldTables ? breadth.fieldTables : breadth.globalsTable) = false;
            learnt = true;
        }
        if (attempt == 0) {
            breadth.includes = IncludeBreadth::AllFound;
        } else if (attempt == 1) {
            breadth.includes = IncludeBreadth::DeviceHeaders;
            breadth.width = SliceWidth::DeviceCode;
        } else {
            breadth.includes = IncludeBreadth::AllFound;
        }
        return learnt;
    }

    /// Recognises the error for `constexpr auto ksKernel = &::norm` if the C library has a function
    /// of that name as well.
    static bool namesSeveral(const CompilerMessage& error) {
        return error.file.ends_with("/unit.cpp") &&
               error.text.find("'const auto'") != std::string::npos;
    }

    bool declares(const std::string& name) const {
        return std::ranges::any_of(program_.files(), [&](const auto& file) {
            return std::ranges::any_of(file.scan.declarations, [&](const auto& declaration) {
                return std::ranges::find(declaration.names, name) != declaration.names.end() ||
                       declaration.owner == name;
            });
        });
    }

    /// Whether a missing header or declaration may have caused the messages.
    static bool maybeMissing(const std::string& messages) {
        return !missingNames(messages).empty() ||
               messages.find("No such file") != std::string::npos ||
               messages.find("no matching function") != std::string::npos ||
               messages.find("#error") != std::string::npos; // A macro of a header may be missing.
    }

    ContentHash withFlags(const std::vector<std::string>& flags) const {
        ContentHash hash = tools_;
        for (const auto& flag : flags)
            hash.add(flag);
        return hash;
    }

    std::string keyOf(const EmulationUnit& unit, const std::vector<std::string>& flags) const {
        auto hash = withFlags(flags);
        for (const auto& folder : kernel_.program.command.includeDirs)
            hash.add(folder);
        for (const auto& file : unit.files) {
            hash.add(file.path.string());
            hash.add(file.text);
        }
        hash.add(unit.prefix);
        hash.add(unit.entry);
        return hash.hex();
    }

    /// Lays the precompiled prelude beside its header in the work folder, from the cache if it is
    /// there. Without it the compiler reads the header itself.
    void layPrecompiledPrelude(const std::filesystem::path& work) const {
        if (!takesPrecompiledPrelude(options_))
            return;
        const auto flags = preludeFlags(options_, kernel_.program.command, imageChecks());
        auto hash = withFlags(flags);
        hash.add(preludeHeaderText(options_));
        const auto key = hash.hex();
        auto precompiled = work / preludeHeaderName;
        precompiled += precompiledSuffix;
        if (cache_.linkPrelude(key, precompiled))
            return;
        if (precompilePrelude(work, flags, options_, stop_))
            cache_.storePrelude(key, precompiled);
    }

    Result<EmulationImage> build(const EmulationUnit& unit) {
        const auto flags = compilerFlags(options_, kernel_.program.command, imageChecks());
        const auto key = keyOf(unit, flags);
        messages_.clear();
        if (cache_.holdsImage(key))
            return imageOf(key);
        if (auto known = cache_.failure(key)) {
            messages_ = std::move(*known);
            return std::unexpected(
                Error{ErrorKind::Failed, "does not compile", kernel_.program.file, {}});
        }
        const auto work = cache_.makeWorkFolder();
        if (!work)
            return std::unexpected(work.error());
        if (auto written = writeUnit(unit, work->path()); !written)
            return std::unexpected(written.error());
        layPrecompiledPrelude(work->path());
        auto outcome = compileImage(requestFor(unit, flags, work->path()), options_, stop_);
        if (!outcome)
            return std::unexpected(outcome.error());
        if (!outcome->foreign.empty())
            return std::unexpected(
                Error{ErrorKind::Unsupported,
                      "the emulator does not run " + outcome->foreign + " in a kernel",
                      kernelPlace(), "profile this kernel on a GPU"});
        if (!outcome->exceededLimit.empty())
            return std::unexpected(
                Error{ErrorKind::Failed, "the kernel cannot be used: " + outcome->exceededLimit,
                      kernelPlace(), "make arrays, templates or macros smaller"});
        if (!outcome->succeeded) {
            messages_ = outcome->messages.empty() ? "the compiler failed without a message"
                                                  : outcome->messages;
            cache_.storeFailure(key, messages_);
            return std::unexpected(
                Error{ErrorKind::Failed, "does not compile", kernel_.program.file, {}});
        }
        if (!outcome->undefinedSymbols.empty()) {
            messages_ = undefinedMessage(outcome->undefinedSymbols);
            cache_.storeFailure(key, messages_);
            return std::unexpected(
                Error{ErrorKind::Failed, "does not link", kernel_.program.file, {}});
        }
        if (auto stored = cache_.storeImage(key, work->path() / "image.so"); !stored)
            return std::unexpected(stored.error());
        return imageOf(key);
    }

    EmulationImage imageOf(const std::string& key) const { return {cache_.imagePath(key), {}}; }

    std::string undefinedMessage(const std::vector<std::string>& symbols) const {
        const auto line = kernelPlace() + ":1: error: ";
        std::string result;
        for (const auto& symbol : symbols)
            result += line + "'" + symbol +
                      "' is not a member of this file: it is declared but defined elsewhere\n";
        return result;
    }

    std::string kernelPlace() const {
        return kernel_.kernel.file + ":" + std::to_string(kernelLine());
    }

    ImageChecks imageChecks() const {
        ImageChecks checks{.divisions = kernel_.program.checksDivisions};
        if (kernel_.program.followsLocals)
            checks.locals =
                pointsIntoLocals(kernel_) ? LocalChecks::Pointers : LocalChecks::Subscripts;
        return checks;
    }

    std::uint32_t kernelLine() const { return lineOf(kernel_.kernel, program_); }

    CompileRequest requestFor(const EmulationUnit& unit, const std::vector<std::string>& flags,
                              const std::filesystem::path& work) const {
        CompileRequest request{work, flags, {}, {}, {}, {}, {}};
        if (kernel_.program.followsLocals)
            request.localAccesses = localAccesses(kernel_, program_);
        for (const auto& file : unit.files)
            request.originals.push_back(file.path);
        const auto mirrored = [&](const std::filesystem::path& path) {
            const auto base = kernel_.program.command.directory;
            const auto absolute = (path.is_absolute() ? path : base / path).lexically_normal();
            return work / "src" / absolute.relative_path();
        };
        std::error_code ignored;
        for (const auto& folder : kernel_.program.command.includeDirs) {
            if (std::filesystem::is_directory(mirrored(folder), ignored))
                request.includeDirs.push_back(mirrored(folder));
        }
        for (const auto& folder : kernel_.program.command.systemIncludeDirs) {
            const bool cuda =
                std::filesystem::exists(std::filesystem::path(folder) / "cuda_runtime.h", ignored);
            if (!cuda)
                request.systemIncludeDirs.emplace_back(folder);
        }
        for (const auto& file : kernel_.program.command.forcedIncludes) {
            if (std::filesystem::exists(mirrored(file), ignored))
                request.forcedIncludes.push_back(mirrored(file).string());
        }
        return request;
    }

    Result<void> writeUnit(const EmulationUnit& unit, const std::filesystem::path& work) const {
        const auto write = [](const std::filesystem::path& path, const std::string& text) {
            std::error_code error;
            std::filesystem::create_directories(path.parent_path(), error);
            std::ofstream stream(path, std::ios::binary);
            stream << text;
            stream.close();
            return !error && stream.good();
        };
        auto entry = unit.entry;
        const auto marker = entry.find(mirrorMarker);
        if (marker != std::string::npos)
            entry.replace(marker, mirrorMarker.size(), (work / "src").string());
        bool good = write(work / preludeHeaderName, preludeHeaderText(options_)) &&
                    write(work / "prefix.h", unit.prefix) && write(work / "unit.cpp", entry);
        for (const auto& file : unit.files)
            good = good && write(work / "src" / file.path.relative_path(), file.text);
        if (!good)
            return std::unexpected(Error{ErrorKind::Failed, "cannot write to the image cache",
                                         work.string(),
                                         "free some space, or set another cache folder"});
        return {};
    }

    /// Describes the failure in the user's terms: a feature that is refused by name, or the
    /// compiler's first error.
    Error explain(const std::string& messages) const {
        const auto error = firstError(messages);
        if (auto refused = refusedFeature(kernel_.kernel, program_, launch_, error))
            return *refused;
        const bool inUserFile =
            error && std::ranges::any_of(program_.files(), [&](const auto& file) {
                return file.source.path.string() == error->file;
            });
        if (inUserFile)
            return {ErrorKind::Failed,
                    "the kernel does not compile for the CPU: " + error->text,
                    error->file + ":" + std::to_string(error->line),
                    {}};
        return {ErrorKind::Failed,
                "the kernel does not compile for the CPU: " +
                    (error ? error->text : messages.substr(0, 300)),
                kernelPlace(),
                {}};
    }

    KernelRef kernel_;
    const LaunchSpec& launch_;
    const ImageOptions& options_;
    std::stop_token stop_;
    ScannedProgram program_;
    ImageCache cache_;
    ContentHash tools_;
    std::string messages_; ///< From the last failed compilation.
};

} // namespace

Result<EmulationImage> buildEmulationImage(KernelRef kernel, const LaunchSpec& launch,
                                           const ImageOptions& options, std::stop_token stop) {
    if (auto trusted = requireTrust(kernel); !trusted)
        return std::unexpected(std::move(trusted.error()));
    return ImageBuilder(kernel, launch, options, std::move(stop)).run();
}

} // namespace kernelskill::engine
