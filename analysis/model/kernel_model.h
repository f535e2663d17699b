/// A kernel's behaviour as data: the common input of features, skills, diagnosis and launch
/// inference.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/model/kept_nests.h"
#include "analysis/model/kept_tokens.h"
#include "analysis/source/diagnostic.h"
#include "analysis/source/source_text.h"
#include "analysis/syntax/syntax.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

enum class FunctionKind : std::uint8_t { Kernel, Device, HostDevice, Host };

struct TemplateParameter {
    std::string name;
    bool isType = false;
    Type type; ///< The type of a non-type parameter.
    std::optional<std::string> defaultArgument;
};

struct Parameter {
    VariableId variable = noId;
    std::string name;
    Type type;
    Span span;           ///< The whole parameter, e.g. `const float* x`.
    bool isRead = false; ///< Whether the memory behind it, or the value itself, is read.
    bool isWritten =
        false; ///< Whether the memory behind it is written, or may be because its address escapes.
    bool escapes = false; ///< Whether it is stored or passed to a function whose body is unknown.
};

enum class LoopKind : std::uint8_t { For, While, Do };

struct Loop {
    LoopKind kind = LoopKind::For;
    StmtId statement = noId;
    StmtId body = noId;
    std::uint32_t parent = noId;         ///< Index into KernelModel::loops of the enclosing loop.
    std::uint32_t depth = 0;             ///< 0 for an outermost loop.
    VariableId inductionVariable = noId; ///< noId if there is not exactly one.
    ExprId lowerBound = noId;
    ExprId upperBound = noId; ///< The limit on the other side of the comparison.
    std::string comparison;   ///< "<", "<=", ">", ">=", "!="
    /// Added in each iteration; nullopt if multiplicative or unknown.
    std::optional<std::int64_t> step;
    std::optional<IndexExpression> stepExpression; ///< The step's amount, if polynomial.
    std::string stepOperator; ///< "+=", "-=", "*=", "/=", ">>=", "<<="; empty if unknown.
    std::optional<std::int64_t> tripCount; ///< Known at compile time.
    std::optional<IndexExpression>
        tripCountExpression; ///< Set if the step is 1 and both bounds are polynomial.
    /// The value of the induction variable on entry, if polynomial. Contains threadIdx in a loop
    /// that strides over threads.
    std::optional<IndexExpression> start;
    bool hasBarrier = false;
    bool hasEarlyExit = false; ///< Contains break, return or goto.
};

enum class MemorySpace : std::uint8_t { Global, Shared, Constant, Local, Generic };
enum class AccessKind : std::uint8_t { Read, Write, ReadWrite, Atomic };

struct MemoryAccess {
    ExprId expression =
        noId; ///< The lvalue: a Subscript, a dereference, or the argument of an atomic or __ldg.
    MemorySpace space = MemorySpace::Generic;
    AccessKind kind = AccessKind::Read;
    /// The parameter or array that it goes through, with aliases resolved; noId if unknown.
    VariableId base = noId;
    std::uint32_t width = 0; ///< Bytes; 0 if the type depends on a template parameter.
    /// In elements of `width` bytes from the base, with arrays flattened row-major. nullopt if not
    /// polynomial.
    std::optional<IndexExpression> index;
    std::vector<std::optional<IndexExpression>>
        subscripts;                   ///< Per dimension as written, outermost first.
    std::vector<std::uint32_t> loops; ///< Indices of enclosing loops, outermost first.
    std::vector<StmtId> conditions;   ///< Enclosing If statements, outermost first.
};

struct SharedArray {
    VariableId variable = noId;
    bool isDynamic = false;
    std::uint64_t bytes = 0; ///< 0 if dynamic or dependent.
};

enum class BarrierKind : std::uint8_t {
    SyncThreads,
    SyncThreadsReduce,
    SyncWarp,
    GroupSync,
    GridSync,
    Fence
};

struct Barrier {
    BarrierKind kind = BarrierKind::SyncThreads;
    ExprId call = noId;
    /// Whether it is under a condition that depends on threadIdx or data.
    bool inDivergentBranch = false;
};

enum class WarpOperationKind : std::uint8_t { Shuffle, Vote, Match, Reduce, ActiveMask };

struct WarpOperation {
    WarpOperationKind kind = WarpOperationKind::Shuffle;
    ExprId call = noId;
};

struct Atomic {
    ExprId call = noId;
    std::uint32_t access = noId; ///< Index into accesses.
};

struct MathCall {
    ExprId call = noId;
    bool isSpecialFunction =
        false; ///< Whether it runs on the special-function units or expands to many instructions.
};

struct Branch {
    StmtId statement = noId;
    bool dependsOnThread = false; ///< Depends on threadIdx, directly or through variables.
    bool dependsOnData = false;   ///< Depends on loaded values.
    bool isBoundsGuard = false;   ///< `if (i < n)` around the work, or `if (i >= n) return`.
};

/// A kernel launch in host code: `name<<<grid, block, shared, stream>>>(arguments)`.
struct LaunchSite {
    std::string kernelName;                     ///< Qualified name of the kernel.
    Span span;                                  ///< From the kernel's name to the closing ')'.
    Span configurationSpan;                     ///< From "<<<" to ">>>", both included.
    std::vector<std::string> templateArguments; ///< As written or deduced.
    std::uint32_t host = noId;                  ///< Index into FileModel::hostFunctions.
    ExprId grid = noId; ///< In that host function's arena, like the three members below.
    ExprId block = noId;
    ExprId sharedBytes = noId; ///< noId if defaulted.
    ExprId stream = noId;
    std::vector<ExprId> arguments;
    std::vector<Span> argumentSpans;
    bool fromMacro = false;
    /// The block's size in x, y, z, if the text tells it; 0 on an axis that is not constant, empty
    /// if no axis is.
    std::vector<std::int64_t> constantBlock;
};

/// A kernel, a device function that kernels call, or a host function with loops (kind tells).
struct KernelModel {
    FunctionKind kind = FunctionKind::Kernel;
    std::string name;          ///< "saxpy"
    std::string qualifiedName; ///< "blas::saxpy"
    std::string file;          ///< Path of the file that defines it.
    Span span;                 ///< The whole definition, with template header and attributes.
    Span nameSpan;
    Span bodySpan;          ///< From '{' to '}'.
    bool fromMacro = false; ///< The definition comes from a macro, so nothing in it can be edited.
    std::vector<TemplateParameter> templateParameters;
    std::optional<std::int64_t> launchBoundsThreads;
    std::optional<std::int64_t> launchBoundsBlocks;
    std::vector<Parameter> parameters;
    FunctionBody body;
    std::vector<Loop> loops;
    std::vector<MemoryAccess> accesses;
    std::vector<SharedArray> sharedArrays;
    std::vector<Barrier> barriers;
    std::vector<WarpOperation> warpOperations;
    std::vector<Atomic> atomics;
    std::vector<MathCall> mathCalls;
    std::vector<Branch> branches;
    std::vector<std::string>
        calls; ///< Qualified names of this translation unit's device functions that it calls.
    /// In the main file, the headers that it includes and the file that it is read through, see
    /// LaunchSite::host. Empty if `alsoLaunchedIn` is not: part of the launches tells nothing.
    std::vector<LaunchSite> launches;
    /// Sources that are not part of the reading and may launch it; see FileModel::includer.
    std::vector<std::string> alsoLaunchedIn;
    /// A hash of the body that ignores comments, white space and local names, so that it survives
    /// renames and moves.
    std::uint64_t normalisedHash = 0;
};

struct HostFunction {
    std::string name;
    std::string file;
    Span span;
    FunctionBody body;
};

struct Include {
    std::string spelling; ///< `<cuda_fp16.h>` or `"util.h"` with delimiters.
    std::string resolved; ///< The path; empty if not found.
    Span span;            ///< The directive in the main file.
};

enum class ParseMode : std::uint8_t { Toolkit, Prelude };

/// Code that nvcc compiles only for the host, but that libclang also allows on the device.
struct HostOnlyCode {
    /// Uses of threadIdx and similar in host functions of the main file.
    std::vector<Span> indexUses;
    std::vector<std::string> constexprFunctions; ///< Qualified names of functions in user files.
};

/// Everything that is known of a main file after a parse: the file that is shown, edited and spoken
/// of. An immutable value: threads may share it.
struct FileModel {
    std::string file;
    /// The source that the parser was given because it includes the main file; empty: the main file
    /// itself. It counts as a file that the main one needs, like a header.
    std::string includer;
    std::shared_ptr<const SourceText> source;
    ParseMode mode = ParseMode::Prelude;
    std::vector<Diagnostic> diagnostics;
    /// Kernels of the main file first, then those of included user headers.
    std::vector<KernelModel> kernels;
    std::vector<KernelModel> deviceFunctions;
    std::vector<HostFunction> hostFunctions; ///< Only host functions with launches.
    /// The texts of their files, the main file's aside, and with an includer of all user files:
    /// what is said of the kernels outside of the main file.
    std::map<std::string, std::shared_ptr<const SourceText>, std::less<>> otherSources;
    /// Host functions of the main file with loops over arrays, from which a first kernel may be
    /// made.
    std::vector<KernelModel> loopFunctions;
    HostOnlyCode hostOnly;
    std::vector<Include> includes;
    /// Non-system files read, the main file first, then its includer.
    std::vector<std::string> userFiles;
    std::vector<std::string> otherIncluders; ///< As the compile command has them.
    /// Messages of errors in the includer and in what it includes beside the main file.
    std::vector<std::string> errorsElsewhere;
    /// Contents of those that differ from the files on disk, by path, the main file's aside.
    std::map<std::string, std::string> unsavedHeaders;
    /// The parts of user files, by path, that stand in a branch of an #if that was not taken: in
    /// order and apart, with the directives around.
    std::map<std::string, std::vector<Span>, std::less<>> skipped;
    KeptNests nests;   ///< Of its kernels, see nestOf() in analysis/nest/nest.h.
    KeptTokens tokens; ///< Of the main file.
};

/// The text of the file that holds the launch; nullptr if its host function is not known.
[[nodiscard]] const SourceText* sourceOf(const FileModel& model, const LaunchSite& launch);
/// The text of the file in which the function is defined; nullptr if the model does not have it.
[[nodiscard]] const SourceText* sourceOf(const FileModel& model, const HostFunction& function);
/// Whether the launch stands in the main file.
[[nodiscard]] bool isInMainFile(const FileModel& model, const LaunchSite& launch);
/// The kernel of the main file whose definition contains `offset`; nullptr if there is none.
[[nodiscard]] const KernelModel* kernelAt(const FileModel& model, std::uint32_t offset);
[[nodiscard]] const KernelModel* kernelNamed(const FileModel& model, std::string_view name);
/// The host function with loops whose definition contains `offset`; nullptr if there is none.
[[nodiscard]] const KernelModel* loopFunctionAt(const FileModel& model, std::uint32_t offset);

} // namespace kernelskill::analysis
