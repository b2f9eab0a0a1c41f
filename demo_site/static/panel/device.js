// What Waylink keeps in this browser, and how to be rid of it.

const COOKIE = "cl_device_id";

/** The device id in Waylink's cookie, or null. */
export function deviceId() {
  return document.cookie.match(`(?:^|; )${COOKIE}=([^;]+)`)?.[1] ?? null;
}

/** Delete all cookies and storage of this site, and begin again at the front page as a stranger. */
export function forgetThisDevice() {
  window.Waylink?.denyConsent();
  for (const cookie of document.cookie.split("; ")) expire(cookie.split("=")[0]);
  localStorage.clear();
  sessionStorage.clear();
  location.assign("/");
}

function expire(name) {
  const labels = location.hostname.split(".");
  const domains = labels.map((_, index) => `; domain=${labels.slice(index).join(".")}`);
  for (const domain of ["", ...domains]) document.cookie = `${name}=; path=/; max-age=0${domain}`;
}
