#include "engine/model/http_transport.h"

#include "engine/model/curl_library.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

using EasyHandle = std::unique_ptr<CURL, decltype(CurlLibrary::easyCleanup)>;
using MultiHandle = std::unique_ptr<CURLM, decltype(CurlLibrary::multiCleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(CurlLibrary::listFree)>;
using UrlHandle = std::unique_ptr<CURLU, decltype(CurlLibrary::urlCleanup)>;

std::unexpected<HttpFailure> failure(ErrorKind kind, std::string what, bool isTransient) {
    return std::unexpected(HttpFailure{{kind, std::move(what), {}, {}}, isTransient});
}

std::string header(const CurlLibrary& curl, CURL* easy, const char* name) {
    curl_header* found = nullptr;
    return curl.easyHeader(easy, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value
                                                                                 : std::string();
}

HttpHead headOf(const CurlLibrary& curl, CURL* easy) {
    long status = 0;
    curl.easyGetInfo(easy, CURLINFO_RESPONSE_CODE, &status);
    std::string type = header(curl, easy, "content-type");
    type.resize(std::min(type.size(), type.find(';')));
    while (type.ends_with(' '))
        type.pop_back();
    std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
    return {static_cast<int>(status), std::move(type), header(curl, easy, "retry-after")};
}

/// One request in progress.
struct Exchange {
    const CurlLibrary& curl;
    CURL* easy = nullptr;
    const HttpBodySink* sink = nullptr;
    std::size_t largest = 0;
    std::size_t received = 0;
    Clock::time_point lastByte = Clock::now();
    std::optional<HttpHead> head = std::nullopt;
    bool isEnough = false;
    bool isTooLarge = false;

    bool take(std::string_view bytes) {
        lastByte = Clock::now();
        received += bytes.size();
        if (received > largest) {
            isTooLarge = true;
            return false;
        }
        if (!head)
            head = headOf(curl, easy);
        isEnough = !(*sink)(*head, bytes);
        return !isEnough;
    }
};

std::size_t onWrite(char* bytes, std::size_t, std::size_t count, void* exchange) {
    return static_cast<Exchange*>(exchange)->take({bytes, count}) ? count : CURL_WRITEFUNC_ERROR;
}

std::size_t onHeader(char*, std::size_t, std::size_t count, void* exchange) {
    static_cast<Exchange*>(exchange)->lastByte = Clock::now();
    return count;
}

/// Settings for every connection.
void secure(const CurlLibrary& curl, CURL* easy, const std::string& url, bool isThisMachine) {
    curl.easySetOption(easy, CURLOPT_URL, url.c_str());
    curl.easySetOption(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easySetOption(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl.easySetOption(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl.easySetOption(easy, CURLOPT_NOSIGNAL, 1L);
    // If the request is cancelled, curl does not wait for its thread that resolves the name.
    curl.easySetOption(easy, CURLOPT_QUICK_EXIT, 1L);
    curl.easySetOption(easy, CURLOPT_USERAGENT, "kernelskill");
    if (isThisMachine)
        curl.easySetOption(easy, CURLOPT_PROXY, "");
}

/// Whether the failure may be temporary. A certificate that is not trusted is not.
bool isTransient(CURLcode code) {
    constexpr std::array<CURLcode, 9> transient{
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
        CURLE_COULDNT_CONNECT,      CURLE_OPERATION_TIMEDOUT,
        CURLE_SSL_CONNECT_ERROR,    CURLE_GOT_NOTHING,
        CURLE_SEND_ERROR,           CURLE_RECV_ERROR,
        CURLE_PARTIAL_FILE};
    return std::ranges::find(transient, code) != transient.end() || code == CURLE_HTTP2 ||
           code == CURLE_HTTP2_STREAM;
}

struct Patience {
    Clock::time_point end;
    std::chrono::milliseconds silence;
};

/// Drives the transfer to its end. Returns an own error (cancelled, too late) or curl's code.
std::expected<CURLcode, HttpFailure> perform(CURL* easy, const Exchange& exchange,
                                             const Patience& patience,
                                             const std::stop_token& stop) {
    const CurlLibrary& curl = exchange.curl;
    const MultiHandle multi(curl.multiInit(), curl.multiCleanup);
    if (!multi)
        return failure(ErrorKind::Failed, "libcurl cannot be started", false);
    const std::stop_callback wake(stop, [&curl, &multi] { curl.multiWakeup(multi.get()); });
    curl.multiAdd(multi.get(), easy);
    struct Removal {
        const CurlLibrary& curl;
        CURLM* multi;
        CURL* easy;
        ~Removal() { curl.multiRemove(multi, easy); }
    };
    const Removal removal{curl, multi.get(), easy};
    while (true) {
        if (stop.stop_requested())
            return failure(ErrorKind::Cancelled, "cancelled", false);
        int running = 0;
        if (curl.multiPerform(multi.get(), &running) != CURLM_OK)
            return failure(ErrorKind::Failed, "libcurl failed", false);
        int left = 0;
        if (const CURLMsg* message = curl.multiInfoRead(multi.get(), &left);
            message != nullptr && message->msg == CURLMSG_DONE)
            return message->data.result;
        const auto now = Clock::now();
        const auto quiet = exchange.lastByte + patience.silence;
        if (now >= patience.end)
            return failure(ErrorKind::Failed, "timed out", false);
        if (now >= quiet)
            return failure(ErrorKind::Failed,
                           "timed out: no data arrived for " +
                               std::to_string(patience.silence.count()) + " ms",
                           exchange.received == 0);
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::min(quiet, patience.end) - now);
        curl.multiPoll(multi.get(), nullptr, 0, static_cast<int>(wait.count()) + 1, nullptr);
    }
}

std::string describe(const CurlLibrary& curl, CURLcode code,
                     const std::array<char, CURL_ERROR_SIZE>& message) {
    return message.front() != '\0' ? std::string(message.data()) : curl.easyErrorText(code);
}

std::string part(const CurlLibrary& curl, CURLU* url, CURLUPart which) {
    char* text = nullptr;
    if (curl.urlGet(url, which, &text, 0) != CURLUE_OK)
        return {};
    std::string result = text;
    curl.free(text);
    return result;
}

} // namespace

std::expected<HttpHead, HttpFailure> post(const HttpRequest& request, const HttpLimits& limits,
                                          std::stop_token stop, const HttpBodySink& onBody) {
    const auto parts = partsOf(request.url);
    if (!parts)
        return std::unexpected(HttpFailure{parts.error(), false});
    const auto loaded = CurlLibrary::load();
    if (!loaded)
        return std::unexpected(HttpFailure{loaded.error(), false});
    const CurlLibrary& curl = *loaded;
    const EasyHandle easy(curl.easyInit(), curl.easyCleanup);
    if (!easy)
        return failure(ErrorKind::Failed, "libcurl cannot be started", false);
    HeaderList headers(nullptr, curl.listFree);
    for (const std::string& line : request.headers)
        headers.reset(curl.listAppend(headers.release(), line.c_str()));
    headers.reset(curl.listAppend(headers.release(), "expect:"));

    Exchange exchange{.curl = curl};
    exchange.easy = easy.get();
    exchange.sink = &onBody;
    exchange.largest = limits.bytes;
    std::array<char, CURL_ERROR_SIZE> message{};
    secure(curl, easy.get(), request.url, parts->isThisMachine);
    curl.easySetOption(easy.get(), CURLOPT_ERRORBUFFER, message.data());
    curl.easySetOption(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    curl.easySetOption(easy.get(), CURLOPT_POST, 1L);
    curl.easySetOption(easy.get(), CURLOPT_POSTFIELDS, request.body.data());
    curl.easySetOption(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    curl.easySetOption(easy.get(), CURLOPT_CONNECTTIMEOUT_MS,
                       static_cast<long>(limits.connect.count()));
    curl.easySetOption(easy.get(), CURLOPT_WRITEFUNCTION, onWrite);
    curl.easySetOption(easy.get(), CURLOPT_WRITEDATA, &exchange);
    curl.easySetOption(easy.get(), CURLOPT_HEADERFUNCTION, onHeader);
    curl.easySetOption(easy.get(), CURLOPT_HEADERDATA, &exchange);

    const auto code =
        perform(easy.get(), exchange, {Clock::now() + limits.total, limits.silence}, stop);
    if (!code)
        return std::unexpected(code.error());
    if (exchange.isTooLarge)
        return failure(ErrorKind::Failed,
                       "the answer is longer than " + std::to_string(limits.bytes) + " bytes",
                       false);
    if (*code != CURLE_OK && !exchange.isEnough)
        return failure(ErrorKind::Failed, describe(curl, *code, message),
                       isTransient(*code) && exchange.received == 0);
    return exchange.head ? std::move(*exchange.head) : headOf(curl, easy.get());
}

std::expected<void, HttpFailure> reach(const std::string& url, std::chrono::milliseconds time,
                                       std::stop_token stop) {
    const auto parts = partsOf(url);
    if (!parts)
        return std::unexpected(HttpFailure{parts.error(), false});
    const auto loaded = CurlLibrary::load();
    if (!loaded)
        return std::unexpected(HttpFailure{loaded.error(), false});
    const CurlLibrary& curl = *loaded;
    const EasyHandle easy(curl.easyInit(), curl.easyCleanup);
    if (!easy)
        return failure(ErrorKind::Failed, "libcurl cannot be started", false);
    std::array<char, CURL_ERROR_SIZE> message{};
    secure(curl, easy.get(), url, parts->isThisMachine);
    curl.easySetOption(easy.get(), CURLOPT_ERRORBUFFER, message.data());
    curl.easySetOption(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
    const auto code = perform(easy.get(), {.curl = curl}, {Clock::now() + time, time}, stop);
    if (!code)
        return std::unexpected(code.error());
    if (*code != CURLE_OK)
        return failure(ErrorKind::Failed, describe(curl, *code, message), isTransient(*code));
    return {};
}

bool isTransientStatus(int status) {
    constexpr std::array<int, 7> transient{408, 429, 500, 502, 503, 504, 529};
    return std::ranges::find(transient, status) != transient.end();
}

Result<UrlParts> partsOf(const std::string& url) {
    const auto refused = [&](std::string what) {
        return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what),
                                     "kernelskill.model.endpoint",
                                     "give a URL such as https://host/v1"});
    };
    const auto loaded = CurlLibrary::load();
    if (!loaded)
        return std::unexpected(loaded.error());
    const CurlLibrary& curl = *loaded;
    const UrlHandle handle(curl.url(), curl.urlCleanup);
    if (!handle || curl.urlSet(handle.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
        return refused("the endpoint is not a URL");
    UrlParts parts{part(curl, handle.get(), CURLUPART_SCHEME),
                   part(curl, handle.get(), CURLUPART_HOST)};
    if (parts.scheme != "http" && parts.scheme != "https")
        return refused("the endpoint is neither https nor http");
    if (!part(curl, handle.get(), CURLUPART_USER).empty() ||
        !part(curl, handle.get(), CURLUPART_PASSWORD).empty())
        return refused("the endpoint holds a user or a password, which belong in no setting");
    if (!part(curl, handle.get(), CURLUPART_QUERY).empty() ||
        !part(curl, handle.get(), CURLUPART_FRAGMENT).empty())
        return refused("the endpoint holds a query or a fragment");
    // Only an address counts: a name such as 127.example.org belongs to another host.
    const bool isLoopback =
        parts.host.starts_with("127.") && std::ranges::all_of(parts.host, [](unsigned char c) {
            return c == '.' || std::isdigit(c) != 0;
        });
    parts.isThisMachine = isLoopback || parts.host == "localhost" || parts.host == "[::1]";
    return parts;
}

} // namespace kernelskill::engine
