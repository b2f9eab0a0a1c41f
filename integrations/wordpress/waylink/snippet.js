(function(w,s,q,m,l){w.Waylink&&Waylink.init||(l=new Promise(function(r){setTimeout(r,1e4);w.addEventListener('error',function(e){
e=e.target;(/waylink(-\w{12})?\.js/.test(e.src)||s&&e==s.nextElementSibling)&&r()},!0)}),m=w.Waylink={q:q=(w.Waylink||0).q||[],
getAttribution:function(){return null},hasConsent:function(){return!1}},
'init trackLead trackConversion trackEvent whenAttributed flush identify grantConsent denyConsent trackPageView reset'.split(' ').map(
function(n,i){m[n]=function(){var a=arguments,p=new Promise(function(r){q.push([n,a,r]);l.then(function(){
r(i<4?{status:'not_loaded'}:i>4?q.length:null)})});if(i<6)return p}}))})(window,document.currentScript)
