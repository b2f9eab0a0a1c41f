// Next.js: save as app/waylink/[...path]/route.js, with your service for links.example.
// The SDK is then initialised with baseUrl: 'https://shop.example/waylink'.
const SERVICE = 'https://links.example';
const SDK_API = 'serviceCore/sdk/v1/';

export async function POST(request, { params }) {
  const path = (await params).path.join('/');
  if (!path.startsWith(SDK_API)) {
    return new Response('Not found', { status: 404 });
  }
  const headers = new Headers(request.headers);
  headers.delete('host');
  headers.delete('connection');
  headers.delete('content-length');
  const answer = await fetch(`${SERVICE}/${path}${new URL(request.url).search}`, {
    method: 'POST',
    headers,
    body: await request.arrayBuffer(),
    redirect: 'manual',
  });
  const answerHeaders = new Headers(answer.headers);
  answerHeaders.delete('content-encoding');
  answerHeaders.delete('content-length');
  return new Response(answer.body, { status: answer.status, headers: answerHeaders });
}
